// What PUT and PATCH share: an update of the object or one of its subresources, with admission.
import type { Level } from '../../audit/levels.js';
import type { AdmissionAttributes, AdmissionView } from '../../admission/plugin.js';
import { whenReady } from '../../lib/async/maybe-promise.js';
import { workOn } from '../../lib/scheduling/sized-work.js';
import type { KubeObject } from '../../machinery/object.js';
import { update, type UpdateRequest, type UpdateResult } from '../../registry/update.js';
import { tidyAdmitted } from './after-admission.js';
import { forbiddenByAuthorizer } from './authorization.js';
import type { Endpoint } from '../contract/endpoint.js';
import type { RestRequest } from '../contract/request.js';
import { lifeContext, type RestServices } from '../contract/services.js';

export interface WriteRequest {
  readonly request: RestRequest;
  /** '' or the subresource written through. */
  readonly subresource: string;
  readonly dryRun: boolean;
  readonly options: object;
  /** What the subresource shows, when not the object itself. */
  readonly view?: AdmissionView;
  /** What it shows of finished objects to those who validate, where that is something else. */
  readonly finishedView?: AdmissionView;
  readonly uid?: string | undefined;
  /** Of what was sent. */
  readonly bytes?: number;
  readonly createMissing?: boolean;
  /** In the storage version. */
  readonly change: UpdateRequest['change'];
  /** Looks at what mutating admission made of it, before the kind's own rules do. Throws StatusError. */
  readonly checkAdmitted?: (object: KubeObject) => void;
}

export function writeObject(services: RestServices, endpoint: Endpoint, write: WriteRequest): Promise<UpdateResult> {
  const { request, subresource, finishedView = write.view } = write;
  const { name } = request.info;
  const isNamespace = endpoint.resource.group === '' && endpoint.resource.resource === 'namespaces';
  const namespace = isNamespace ? name : request.info.namespace;
  const context = lifeContext(services, request, namespace, write.dryRun);
  const annotate = (key: string, value: string, level?: Level): void => request.annotate(key, value, level);
  // hot: each member by name, for spreading an object costs more than the plugins that look at it.
  const attributesOf = (
    object: KubeObject,
    old: Readonly<KubeObject> | undefined,
    view: AdmissionView | undefined,
  ): AdmissionAttributes => ({
    operation: old === undefined ? 'CREATE' : 'UPDATE',
    kind: endpoint.kind,
    resource: endpoint.resource,
    subresource,
    namespace,
    name,
    object,
    old,
    view,
    options: write.options,
    context,
    operations: services.ownOperations,
    annotate,
  });
  return update(endpoint.registry, {
    name,
    endpoint: subresource,
    uid: write.uid,
    bytes: write.bytes ?? 0,
    createMissing: write.createMissing === true,
    context: endpoint.definition.namespaced ? context : { ...context, namespace: '' },
    change: (current, found) =>
      whenReady(write.change(current, found), (object) =>
        whenReady(workOn(found.bytes).pause(), () => {
          const owned = object.metadata.managedFields;
          return whenReady(services.admission.admit(attributesOf(object, current, write.view)), () => {
            tidyAdmitted(object, owned, (text) => request.warn(text));
            write.checkAdmitted?.(object);
            return object;
          });
        }),
      ),
    async admitCreate(object) {
      await authorizeCreate(services, endpoint, request, subresource);
      await services.admission.validate(attributesOf(object, undefined, finishedView));
    },
    admitUpdate: (object, old) => services.admission.validate(attributesOf(object, old, finishedView)),
  });
}

/** An update that turns out to create needs the right to create, too. */
async function authorizeCreate(
  services: RestServices,
  endpoint: Endpoint,
  { http, user, info }: RestRequest,
  subresource: string,
): Promise<void> {
  const attributes = {
    user,
    verb: 'create',
    resourceRequest: true,
    apiGroup: endpoint.resource.group,
    apiVersion: endpoint.resource.version,
    resource: endpoint.resource.resource,
    subresource,
    namespace: info.namespace,
    name: info.name,
    path: info.path,
  };
  const { decision, reason } = await services.authorizer.authorize(attributes, http);
  if (decision !== 'allow') throw forbiddenByAuthorizer(attributes, reason);
}
