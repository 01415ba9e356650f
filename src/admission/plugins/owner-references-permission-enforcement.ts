import type { AuthorizationAttributes, Authorizer } from '../../authz/authorizer.js';
import { deepEqual } from '../../lib/values/deep-equal.js';
import { goQuote } from '../../lib/go/quote.js';
import { type GroupVersionKind, type OwnerReference, parseApiVersion } from '../../machinery/object.js';
import { forbid } from '../forbid.js';
import type { AdmissionAttributes, AdmissionPlugin } from '../plugin.js';

export interface OwnerReferencesParts {
  readonly authorizer: Authorizer;
  /** The resource that serves a kind, and whether its objects are in namespaces. */
  readonly resourceOf: (
    kind: GroupVersionKind,
  ) => { readonly resource: string; readonly namespaced: boolean } | undefined;
}

/**
 * Owner references make the garbage collector act. So changing them requires the right to delete the object, and holding
 * up an owner's deletion requires the right to set the owner's finalizers.
 */
export const ownerReferencesPermissionEnforcement = (parts: OwnerReferencesParts): AdmissionPlugin => ({
  name: 'OwnerReferencesPermissionEnforcement',
  handles: (operation) => operation === 'CREATE' || operation === 'UPDATE',
  validate: (attributes) => (changesOwners(attributes) ? check(parts, attributes) : undefined),
});

async function check(parts: OwnerReferencesParts, attributes: AdmissionAttributes): Promise<void> {
  if (attributes.operation !== 'CREATE') await checkDeletion(parts, attributes);
  const blocking = newlyBlocking(attributes);
  if (blocking.length === 0 || (await mayFinalizeAnything(parts, attributes))) return;
  for (const reference of blocking) await checkFinalizers(parts, attributes, reference);
}

function changesOwners({ resource, subresource, object, old }: AdmissionAttributes): boolean {
  // Kubelets write the status of pods whose owners they never touch.
  if (resource.group === '' && resource.resource === 'pods' && subresource === 'status') return false;
  return !deepEqual(object?.metadata.ownerReferences, old?.metadata.ownerReferences);
}

async function checkDeletion({ authorizer }: OwnerReferencesParts, attributes: AdmissionAttributes): Promise<void> {
  const { resource, subresource, namespace, name } = attributes;
  const { decision, reason, evaluationError } = await authorizer.authorize({
    ...question(attributes),
    verb: 'delete',
    apiGroup: resource.group,
    apiVersion: resource.version,
    resource: resource.resource,
    subresource,
    namespace,
    name,
  });
  if (decision === 'allow') return;
  throw forbid(
    attributes,
    `cannot set an ownerRef on a resource you can't delete: ${reason}, ${evaluationError ?? '<nil>'}`,
  );
}

/** References that now block their owner's deletion and did not before. */
function newlyBlocking({ object, old }: AdmissionAttributes): readonly OwnerReference[] {
  const before = new Map((old?.metadata.ownerReferences ?? []).map((reference) => [reference.uid, reference]));
  return (object?.metadata.ownerReferences ?? []).filter(
    (reference) => reference.blockOwnerDeletion && !before.get(reference.uid)?.blockOwnerDeletion,
  );
}

async function mayFinalizeAnything(
  { authorizer }: OwnerReferencesParts,
  attributes: AdmissionAttributes,
): Promise<boolean> {
  const all = { apiGroup: '*', apiVersion: '*', resource: '*', subresource: 'finalizers', namespace: '', name: '*' };
  return (await authorizer.authorize({ ...question(attributes), verb: 'update', ...all })).decision === 'allow';
}

async function checkFinalizers(
  { authorizer, resourceOf }: OwnerReferencesParts,
  attributes: AdmissionAttributes,
  { apiVersion, kind, name }: OwnerReference,
): Promise<void> {
  const { group, version } = parseApiVersion(apiVersion);
  const found = resourceOf({ group, version, kind });
  if (found === undefined) {
    const why = `no matches for kind ${goQuote(kind)} in version ${goQuote(apiVersion)}`;
    throw forbid(
      attributes,
      `cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion ${apiVersion} Kind ${kind}: ${why}`,
    );
  }
  const { decision, reason, evaluationError } = await authorizer.authorize({
    ...question(attributes),
    verb: 'update',
    apiGroup: group,
    apiVersion: version,
    resource: found.resource,
    subresource: 'finalizers',
    namespace: found.namespaced ? attributes.namespace : '',
    name,
  });
  if (decision === 'allow') return;
  throw forbid(
    attributes,
    `cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: ${reason}, ${evaluationError ?? '<nil>'}`,
  );
}

const question = ({
  context,
}: AdmissionAttributes): Pick<AuthorizationAttributes, 'user' | 'resourceRequest' | 'path'> => ({
  user: context.user,
  resourceRequest: true,
  path: '',
});
