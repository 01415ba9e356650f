// The scale subresource: a workload seen as nothing but its number of replicas.
import { append } from '../lib/append.js';
import { goQuote } from '../lib/go-quote.js';
import type { HttpResponse } from '../lib/http.js';
import type { MaybePromise } from '../lib/maybe-promise.js';
import { atOnce, inTurns, LARGE_BYTES, type Steps, Turns } from '../lib/turns.js';
import { type FieldErrors, FieldPath, invalid as invalidField } from '../machinery/field-error.js';
import { apiVersionOf, type JsonObject, type KubeObject, type ObjectMeta } from '../machinery/object.js';
import { badRequest, conflict, internalError, invalid, StatusError } from '../machinery/status.js';
import { noteUnfitted } from '../machinery/unfitted.js';
import { nameIsDnsSubdomain } from '../machinery/validation/names.js';
import { validateKubeFinalizers, validateObjectMeta } from '../machinery/validation/object-meta.js';
import type { ScaleAccess } from '../registry/kind.js';
import { loaded } from '../storage/store.js';
import { get } from '../registry/list.js';
import { asideFor } from '../registry/registry.js';
import { matchNamespace } from '../registry/system-fields.js';
import type { UpdateResult } from '../registry/update.js';
import { managedFieldSteps } from '../schema/apply/field-manager.js';
import { fromScaleManagedFields, type ReplicasPaths, toScaleManagedFields } from '../schema/apply/scale-managers.js';
import { deepCopy } from '../schema/deep-copy.js';
import { encodeJson } from '../schema/json/encode.js';
import type { Scale } from '../schema/generated/autoscaling.v1.js';
import { checkName } from './accept-body.js';
import { readBody } from './decode-body.js';
import type { Endpoint } from './endpoint.js';
import { managerName } from './field-manager.js';
import { checkResourceVersion } from './get.js';
import { bodyMediaType, negotiate } from './negotiate.js';
import { patchKind, patchReader } from './patch.js';
import { isApply, preparePatch } from './patch-kinds.js';
import { checkPatchedScale } from './patched-kind.js';
import { patchOptions, updateOptions, type WriteOptions } from './query-options.js';
import { noteStoring } from './record-verb.js';
import type { RestRequest } from './request.js';
import { respondScale, scaleType } from './scale-answer.js';
import { takeBody } from './take-body.js';
import type { RestServices } from './services.js';
import { writeObject, type WriteRequest } from './write-object.js';

/** The reference looks for the kind's name where only that of custom resources is known. */
const UNREAD_SCALE =
  'no kind is registered for the type v1.Scale in scheme "pkg/apiserver/customresource_handler.go:730"';
const SCALE = { group: 'autoscaling', version: 'v1', kind: 'Scale' };

export async function getScale(
  services: RestServices,
  endpoint: Endpoint,
  request: RestRequest,
  access: ScaleAccess,
): Promise<HttpResponse> {
  const { http, info } = request;
  const negotiated = negotiate(http, services.mediaTypes);
  const resourceVersion = http.query.get('resourceVersion') ?? '';
  checkResourceVersion(resourceVersion);
  const span = request.trace?.span;
  span?.event('About to Get from storage');
  const stored = await get(endpoint.registry, info.namespace, info.name, resourceVersion, request.trace);
  const object = await loaded(stored);
  const missing = access.missing?.(object);
  if (missing !== undefined) throw internalError(`the spec replicas field ${goQuote(missing)} does not exist`);
  span?.event('About to write a response');
  return respondScale({ endpoint, request: http, negotiated, clock: services.clock }, scaleOf(object, access));
}

export async function updateScale(
  services: RestServices,
  endpoint: Endpoint,
  request: RestRequest,
  access: ScaleAccess,
): Promise<HttpResponse> {
  const { http, info } = request;
  const span = request.trace?.span;
  const body = await takeBody(services, endpoint, request, 'update');
  const options = updateOptions(http);
  bodyMediaType(http, services.mediaTypes);
  span?.event('About to convert to expected version');
  const sent = await readBody(
    services.converter,
    http,
    body,
    { kind: SCALE, type: scaleType(), ...(endpoint.definition.custom && { unread: UNREAD_SCALE }) },
    { mediaTypes: services.mediaTypes, fieldValidation: options.fieldValidation, warn: (text) => request.warn(text) },
  );
  span?.event('Conversion done');
  request.trail?.requestObject(sent, (scale) => encodeJson(scaleType(), scale));
  // Told also where there is nothing to scale.
  matchNamespace(sent, true, info.namespace);
  checkName(sent, info.name);
  const manager = managerName(options.fieldManager, http);
  const change = async (live: Scale & KubeObject): Promise<Scale> => {
    const scale = deepCopy(sent);
    await done(noteScale(live, scale, manager, services.clock()), body);
    return scale as Scale;
  };
  const stated = { ...options, uid: sent.metadata.uid };
  return write(services, endpoint, request, access, stated, change, (store) => noteStoring(span, body.length, store));
}

export async function patchScale(
  services: RestServices,
  endpoint: Endpoint,
  request: RestRequest,
  access: ScaleAccess,
): Promise<HttpResponse> {
  const { http, info } = request;
  const kind = patchKind(http, endpoint, services.mediaTypes);
  const span = request.trace?.span;
  const body = await takeBody(services, endpoint, request, 'patch');
  const options = patchOptions(http, isApply(kind));
  const recording = request.trail?.requestPatch(body, asideFor(endpoint.registry, body.length));
  if (recording !== undefined) await recording;
  span?.event('Recorded the audit event');
  const now = services.clock();
  const read = await patchReader(services.converter, kind, body);
  const patch = preparePatch(kind, read, {
    target: {
      type: scaleType(),
      kind: SCALE,
      defaults: () => undefined,
      ...(endpoint.definition.custom && { checkKind: (patched: JsonObject) => checkPatchedScale(SCALE, patched) }),
      note: (live, object, manager) => noteScale(live, object, manager, now),
      resetFields: [],
    },
    options,
    manager: managerName(options.fieldManager, http),
    subresource: info.subresource,
    now,
    warn: (text) => request.warn(text),
  });
  const change = async (live: Scale & KubeObject): Promise<Scale> => {
    span?.event('About to apply patch');
    const scale = (await done(patch.steps(live), body)) as Scale;
    // The reference would convert it as if it were a custom resource.
    if (isApply(kind) && endpoint.definition.custom) throw unappliedScale(scale);
    span?.event('About to check admission control');
    return scale;
  };
  return write(services, endpoint, request, access, options, change, async (store) => {
    const stored = await store();
    span?.event('Object stored in database');
    return stored;
  });
}

/** What a large body asks for is done in turns with others. */
const done = <T>(steps: Steps<T>, { length }: Buffer): MaybePromise<T> =>
  length > LARGE_BYTES ? inTurns(steps) : atOnce(steps);

function unappliedScale({ metadata }: Scale): StatusError {
  const about = `${metadata?.namespace ?? ''}/${metadata?.name ?? ''}; autoscaling/v1, Kind=Scale`;
  const why = 'request to convert CR to an invalid group/version: autoscaling/v1';
  return new StatusError(500, '', `failed to convert new object (${about}) to proper version: ${why}`);
}

async function write(
  services: RestServices,
  endpoint: Endpoint,
  request: RestRequest,
  access: ScaleAccess,
  { uid, ...options }: WriteOptions & { readonly uid?: string | undefined },
  change: (scale: Scale & KubeObject) => Promise<Scale>,
  noted: (store: () => Promise<UpdateResult>) => Promise<UpdateResult>,
): Promise<HttpResponse> {
  const { http, info } = request;
  const negotiated = negotiate(http, services.mediaTypes);
  const paths = replicasPaths(endpoint, access);
  /** The scales that objects were seen and sent as, which say more than the objects do. */
  const seen = new WeakMap<object, Scale & KubeObject>();
  const setScale = (object: KubeObject, scale: Readonly<Scale>): void => {
    access.setSpecReplicas(object, scale.spec?.replicas ?? 0);
    takeVersion(endpoint, object, scale.metadata?.resourceVersion);
  };
  const written: WriteRequest = {
    request,
    subresource: 'scale',
    dryRun: options.dryRun,
    options,
    finishedView: { kind: SCALE, of: (object) => scaleOf(object, access), write: setScale },
    view: {
      kind: SCALE,
      of: (object) => seen.get(object) ?? scaleOf(object, access),
      write(object, scale: Readonly<Scale & KubeObject>) {
        setScale(object, scale);
        seen.set(object, scale);
      },
    },
    uid,
    async change(current) {
      if (current === undefined) throw new Error('a scale is never created');
      const live = scaleOf(current, access);
      const entries = toScaleManagedFields(current.metadata.managedFields, paths);
      if (entries !== undefined) live.metadata.managedFields = entries;
      const missing = access.missing?.(current);
      if (missing !== undefined) live.spec = { replicas: NEVER_SET };
      const scale = await change(live);
      // Nothing of it is kept but its replicas, and yet it may say much.
      const turns = new Turns();
      if (missing !== undefined && scale.spec?.replicas === NEVER_SET) {
        throw badRequest(`the spec replicas field ${goQuote(missing)} cannot be empty`);
      }
      checkScale(endpoint, info.name, info.namespace, scale, current);
      await turns.breathe();
      const object = deepCopy(current) as KubeObject;
      setScale(object, scale);
      await turns.breathe();
      // The schema may not know the place.
      if (endpoint.definition.custom) noteUnfitted(object);
      const owned = fromScaleManagedFields(
        current.metadata.managedFields,
        scale.metadata?.managedFields,
        apiVersionOf(endpoint.kind),
        paths,
      );
      if (owned === undefined) delete object.metadata.managedFields;
      else object.metadata.managedFields = owned;
      seen.set(current, live).set(object, scale as Scale & KubeObject);
      return object;
    },
  };
  const { stored } = await noted(() => writeObject(services, endpoint, written));
  request.trace?.span?.event('About to write a response');
  return respondScale(
    { endpoint, request: http, negotiated, clock: services.clock },
    scaleOf(await loaded(stored), access),
  );
}

/** The version a scale was made from. Custom resources must state one: that of the object, where the scale has none. */
function takeVersion({ definition }: Endpoint, object: KubeObject, stated = ''): void {
  if (stated !== '' || definition.custom !== true) object.metadata.resourceVersion = stated;
}

/** A number no client sends, while the replicas of a custom resource are not set: the least of its 32 bits. */
const NEVER_SET = -(2 ** 31);

/** Replicas stand in the same place in every version of the built-in kinds that scale. */
const replicasPaths = ({ definition }: Endpoint, { replicasPaths: stated = {} }: ScaleAccess): ReplicasPaths =>
  Object.fromEntries(
    definition.versions.map(({ version }) => {
      const path = stated[version] ?? ['spec', 'replicas'];
      return [apiVersionOf({ group: definition.group, version }), path.map((name) => `f:${name}`)];
    }),
  );

function noteScale(live: Readonly<KubeObject>, object: KubeObject, manager: string, now: Date): Steps<void> {
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

function checkScale(
  endpoint: Endpoint,
  name: string,
  namespace: string,
  scale: Scale & Partial<KubeObject>,
  current: Readonly<KubeObject>,
): void {
  const object = scale as KubeObject;
  object.metadata ??= {};
  matchNamespace(object, true, namespace);
  checkName(object, name);
  // A custom resource's own rules tell what is wrong with its replicas, by their place in it.
  const errors = endpoint.definition.custom ? [] : scaleErrors(object.metadata, scale.spec?.replicas ?? 0);
  if (errors.length > 0) throw invalid({ group: SCALE.group, kind: SCALE.kind }, name, errors);
  const { uid } = object.metadata;
  // A patch of a custom resource's scale may state any.
  if (uid && !endpoint.definition.custom && uid !== current.metadata.uid) {
    const { group, resource } = endpoint.registry.resource;
    const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${current.metadata.uid ?? ''}`;
    throw conflict({ group, resource: `${resource}/scale` }, name, why);
  }
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

function scaleOf(object: Readonly<KubeObject>, access: ScaleAccess): Scale & KubeObject {
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
