// What expressions see beside the object: the request, and the namespace it is in.
import type { GroupVersionResource, JsonObject, KubeObject } from '../../machinery/object.js';
import { sortedExtra } from '../../machinery/user.js';
import type { AdmissionAttributes, Operation } from '../plugin.js';
import type { ResourceMatch } from './resource-match.js';
import type { SeenRequest } from './seen-request.js';

interface RequestHead extends JsonObject {
  readonly uid: string;
}

export interface RequestValue extends RequestHead {
  readonly dryRun: boolean;
  readonly options: object | null;
}

/** `request`. */
export function requestValue(request: SeenRequest, matched: ResourceMatch): RequestValue {
  const { attributes } = request;
  const options = optionsValue(attributes);
  return { ...requestHead(request, matched, ''), dryRun: attributes.context.dryRun, options };
}

/** What stands before the objects and the options. Texts that are empty are left out, as kube-apiserver encodes them. */
export function requestHead({ attributes, kind }: SeenRequest, matched: ResourceMatch, uid: string): RequestHead {
  const { subresource, name, namespace, operation } = attributes;
  return {
    uid,
    kind: { ...matched.kind },
    resource: resourceValue(matched.resource),
    ...(subresource !== '' && { subResource: subresource }),
    requestKind: { ...kind },
    requestResource: resourceValue(attributes.resource),
    ...(subresource !== '' && { requestSubResource: subresource }),
    ...(name !== '' && { name }),
    ...(namespace !== '' && { namespace }),
    operation,
    userInfo: userValue(attributes),
  };
}

const resourceValue = ({ group, version, resource }: GroupVersionResource): object => ({ group, version, resource });

function userValue({ context: { user } }: AdmissionAttributes): object {
  const { name, uid = '', groups, extra = {} } = user;
  return {
    ...(name !== '' && { username: name }),
    ...(uid !== '' && { uid }),
    ...(groups.length > 0 && { groups }),
    ...(Object.keys(extra).length > 0 && { extra: sortedExtra(extra) }),
  };
}

const OPTIONS_KINDS: Readonly<Record<Exclude<Operation, 'CONNECT'>, string>> = {
  CREATE: 'CreateOptions',
  UPDATE: 'UpdateOptions',
  DELETE: 'DeleteOptions',
};

/** Options as the API has them: those of writes are kept in a parsed form. */
export function optionsValue({ operation, options }: AdmissionAttributes): object | null {
  if (operation === 'CONNECT' || options === undefined) return null;
  const head = { kind: OPTIONS_KINDS[operation], apiVersion: 'meta.k8s.io/v1' };
  if (operation === 'DELETE') return { ...head, ...options, ...head };
  const { dryRun, fieldManager, sentFieldValidation } = options as Readonly<Record<string, unknown>>;
  return {
    ...head,
    ...(dryRun === true && { dryRun: ['All'] }),
    ...(fieldManager !== '' && { fieldManager }),
    ...(sentFieldValidation !== '' && { fieldValidation: sentFieldValidation }),
  };
}

/** The members of a namespace's metadata that expressions may read. */
const NAMESPACE_METADATA = [
  'name',
  'generateName',
  'namespace',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'labels',
  'annotations',
  'finalizers',
] as const;

export function namespaceValue(namespace: Readonly<KubeObject>): object {
  const { metadata, spec, status } = namespace as Readonly<KubeObject> & JsonObject;
  const kept = NAMESPACE_METADATA.flatMap((member) =>
    metadata[member] === undefined ? [] : [[member, metadata[member]]],
  );
  return { metadata: Object.fromEntries(kept) as object, spec: spec ?? {}, status: status ?? {} };
}
