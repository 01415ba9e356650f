// What the write of a scale makes of the object that is scaled, in whichever thread.
import { append } from '../../lib/values/append.js';
import { goQuote } from '../../lib/go/quote.js';
import type { StepGenerator } from '../../lib/scheduling/yield.js';
import { type FieldErrors, FieldPath, invalid as invalidField } from '../../machinery/field-error.js';
import { apiVersionOf, type JsonObject, type KubeObject, type ObjectMeta } from '../../machinery/object.js';
import { badRequest, conflict, invalid, StatusError } from '../../machinery/status.js';
import { nameIsDnsSubdomain } from '../../machinery/validation/names.js';
import { validateKubeFinalizers, validateObjectMeta } from '../../machinery/validation/object-meta.js';
import type { ScaleAccess } from '../../registry/kind.js';
import { matchNamespace } from '../../registry/system-fields.js';
import { managedFieldSteps } from '../../schema/apply/field-manager.js';
import { fromScaleManagedFields, type ReplicasPaths, toScaleManagedFields } from '../../schema/apply/scale-managers.js';
import { deepCopySteps } from '../../schema/deep-copy.js';
import type { Scale as ScaleFields } from '../../schema/generated/autoscaling.v1.js';
import { type Addressed, checkName } from '../body/accept-body.js';
import type { Expected } from '../body/decode-body.js';
import type { Endpoint } from '../contract/endpoint.js';
import { isApply, type PatchContext, type PatchKind, preparePatch, type ReadTree } from '../patch/patch-kinds.js';
import { checkPatchedScale } from '../patch/patched-kind.js';
import { scaleType } from '../answer/scale-answer.js';

export type Scale = ScaleFields & KubeObject;

export const SCALE = { group: 'autoscaling', version: 'v1', kind: 'Scale' };

/** kube-apiserver looks for the kind's name where only that of custom resources is known. */
const UNREAD_SCALE =
  'no kind is registered for the type v1.Scale in scheme "pkg/apiserver/customresource_handler.go:730"';

export const expectedScale = ({ definition }: Endpoint): Expected => ({
  kind: SCALE,
  type: scaleType(),
  ...(definition.custom && { unread: UNREAD_SCALE }),
});

export function acceptScale(sent: KubeObject, { namespace, name }: Addressed): void {
  matchNamespace(sent, true, namespace);
  checkName(sent, name);
}

/** Makes the wanted scale from the one that is there. */
export interface ScaleChange {
  readonly steps: (live: Readonly<Scale>) => StepGenerator<Scale>;
  /** As that of a Patch. */
  readonly growth: number;
}

export const updatedScale = (sent: Readonly<KubeObject>, manager: string, now: Date): ScaleChange => ({
  *steps(live) {
    const scale = yield* deepCopySteps(sent as Scale);
    yield* noteScale(live, scale, manager, now);
    return scale;
  },
  growth: 1,
});

export function patchedScale(
  { definition }: Endpoint,
  kind: PatchKind,
  read: ReadTree,
  context: Omit<PatchContext, 'target'>,
): ScaleChange {
  const patch = preparePatch(kind, read, {
    ...context,
    target: {
      type: scaleType(),
      kind: SCALE,
      defaults: () => undefined,
      ...(definition.custom && { checkKind: (patched: JsonObject) => checkPatchedScale(SCALE, patched) }),
      note: (live, object, manager) => noteScale(live, object, manager, context.now),
      resetFields: [],
    },
  });
  return {
    *steps(live) {
      const scale = (yield* patch.steps(live)) as Scale;
      // kube-apiserver would convert it as if it were a custom resource.
      if (isApply(kind) && definition.custom) throw unappliedScale(scale);
      return scale;
    },
    growth: patch.growth,
  };
}

function unappliedScale({ metadata }: Scale): StatusError {
  const about = `${metadata.namespace ?? ''}/${metadata.name ?? ''}; autoscaling/v1, Kind=Scale`;
  const why = 'request to convert CR to an invalid group/version: autoscaling/v1';
  return new StatusError(500, '', `failed to convert new object (${about}) to proper version: ${why}`);
}

/** The changed object, and the scales it was seen and sent as, which say more than the objects do. */
export interface Scaled {
  readonly object: KubeObject;
  readonly live: Scale;
  readonly scale: Scale;
}

export interface ScaleOfObject {
  readonly endpoint: Endpoint;
  readonly access: ScaleAccess;
  readonly path: Addressed;
  readonly current: Readonly<KubeObject>;
  readonly change: ScaleChange;
}

export function* scaledSteps({ endpoint, access, path, current, change }: ScaleOfObject): StepGenerator<Scaled> {
  const paths = replicasPaths(endpoint, access);
  const { managedFields } = current.metadata;
  const live = scaleOf(current, access);
  const entries = toScaleManagedFields(managedFields, paths);
  if (entries !== undefined) live.metadata.managedFields = entries;
  const missing = access.missing?.(current);
  if (missing !== undefined) live.spec = { replicas: NEVER_SET };
  yield;
  const scale = yield* change.steps(live);
  if (missing !== undefined && scale.spec?.replicas === NEVER_SET) {
    throw badRequest(`the spec replicas field ${goQuote(missing)} cannot be empty`);
  }
  yield;
  // Nothing of it is kept but its replicas, and yet it may say much.
  checkScale(endpoint, path, scale, current);
  yield;
  const object = yield* deepCopySteps(current as KubeObject);
  setScale(endpoint, access, object, scale);
  const owned = fromScaleManagedFields(managedFields, scale.metadata.managedFields, apiVersionOf(endpoint.kind), paths);
  if (owned === undefined) delete object.metadata.managedFields;
  else object.metadata.managedFields = owned;
  return { object, live, scale };
}

/** A number no client sends, while the replicas of a custom resource are not set: the least of its 32 bits. */
const NEVER_SET = -(2 ** 31);

export function setScale(endpoint: Endpoint, access: ScaleAccess, object: KubeObject, scale: Readonly<Scale>): void {
  access.setSpecReplicas(object, scale.spec?.replicas ?? 0);
  adoptVersion(endpoint, object, scale.metadata.resourceVersion);
}

/** The version a scale was made from. Custom resources must state one: that of the object, where the scale has none. */
function adoptVersion({ definition }: Endpoint, object: KubeObject, stated = ''): void {
  if (stated !== '' || definition.custom !== true) object.metadata.resourceVersion = stated;
}

/** Replicas stand in the same place in every version of the built-in kinds that scale. */
const replicasPaths = ({ definition }: Endpoint, { replicasPaths: stated = {} }: ScaleAccess): ReplicasPaths =>
  Object.fromEntries(
    definition.versions.map(({ version }) => {
      const path = stated[version] ?? ['spec', 'replicas'];
      return [apiVersionOf({ group: definition.group, version }), path.map((name) => `f:${name}`)];
    }),
  );

function noteScale(live: Readonly<KubeObject>, object: KubeObject, manager: string, now: Date): StepGenerator<void> {
  const apiVersion = apiVersionOf(SCALE);
  return managedFieldSteps({
    type: scaleType(),
    apiVersion,
    manager,
    subresource: 'scale',
    time: now,
    live,
    newObject: object,
  });
}

function checkScale(endpoint: Endpoint, path: Addressed, scale: Scale, current: Readonly<KubeObject>): void {
  scale.metadata ??= {};
  acceptScale(scale, path);
  validateScale(endpoint, path.name, scale);
  const { uid } = scale.metadata;
  // A patch of a custom resource's scale may state any.
  if (uid && !endpoint.definition.custom && uid !== current.metadata.uid) {
    const { group, resource } = endpoint.registry.resource;
    const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${current.metadata.uid ?? ''}`;
    throw conflict({ group, resource: `${resource}/scale` }, path.name, why);
  }
}

/** A custom resource's own rules report what is wrong with its replicas, by their path. Throws StatusError. */
export function validateScale({ definition }: Endpoint, name: string, { metadata, spec }: Readonly<Scale>): void {
  const errors = definition.custom ? [] : scaleErrors(metadata, spec?.replicas ?? 0);
  if (errors.length > 0) throw invalid({ group: SCALE.group, kind: SCALE.kind }, name, errors);
}

/** The scale is checked as an object of its own, although nothing of it is kept but its replicas. */
function scaleErrors(metadata: ObjectMeta, replicas: number): FieldErrors {
  const errors = validateObjectMeta(metadata, { namespaced: true, validateName: nameIsDnsSubdomain });
  append(errors, validateKubeFinalizers(metadata.finalizers, FieldPath.of('metadata', 'finalizers')));
  if (replicas < 0) {
    errors.push(invalidField(FieldPath.of('spec', 'replicas'), replicas, 'must be greater than or equal to 0'));
  }
  return errors;
}

export function scaleOf(object: Readonly<KubeObject>, access: ScaleAccess): Scale {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const replicas = access.specReplicas(object);
  const selector = access.selector(object);
  return {
    kind: SCALE.kind,
    apiVersion: apiVersionOf(SCALE),
    metadata: {
      ...(name && { name }),
      ...(namespace && { namespace }),
      ...(uid && { uid }),
      ...(resourceVersion && { resourceVersion }),
      ...(creationTimestamp && { creationTimestamp }),
    },
    spec: replicas === 0 ? {} : { replicas },
    status: { replicas: access.statusReplicas(object), ...(selector !== '' && { selector }) },
  };
}
