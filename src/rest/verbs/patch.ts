import { offload, type WorkerPool } from '../../lib/async/worker-pool.js';
import { trimSpaces } from '../../lib/http/header-text.js';
import type { HttpRequest, HttpResponse } from '../../lib/http/http.js';
import { type MaybePromise, whenReady } from '../../lib/async/maybe-promise.js';
import { workOn } from '../../lib/scheduling/sized-work.js';
import { addSizeHint } from '../../machinery/size-hint.js';
import type { KubeObject } from '../../machinery/object.js';
import { conflict, notFound, StatusError, unsupportedMediaType, wrongMediaType } from '../../machinery/status.js';
import { workersFor } from '../../registry/registry.js';
import { matchNamespace } from '../../registry/system-fields.js';
import type { Found } from '../../registry/update.js';
import { checkName } from '../body/accept-body.js';
import { type ChangeMade, type ChangeRequest, makeOnWorker, objectMade } from '../change/change-on-worker.js';
import type { Converter } from '../wire/convert-bytes.js';
import { readLargePatch, readPatch } from '../body/decode-large.js';
import { type Endpoint, inVersion, toStorage } from '../contract/endpoint.js';
import { CBOR_TYPE, type MediaType } from '../wire/media-types.js';
import { negotiate, objectPath } from '../wire/negotiate.js';
import { managerName } from '../contract/field-manager.js';
import { isApply, type Patch, type PatchKind, preparePatch, type ReadTree } from '../patch/patch-kinds.js';
import { encodingOf, targetOf } from '../change/patch-target.js';
import { patchOptions } from '../contract/query-options.js';
import type { RestRequest } from '../contract/request.js';
import { requireNamespace } from '../body/require-namespace.js';
import { respondTimed } from '../answer/timed.js';
import { readRequestBody } from '../body/read-body.js';
import type { RestServices } from '../contract/services.js';
import { conversionsOf } from '../change/versions.js';
import { writeObject } from './write-object.js';

const PATCH_TYPES: ReadonlyMap<string, PatchKind> = new Map([
  ['application/json-patch+json', 'json'],
  ['application/merge-patch+json', 'merge'],
  ['application/strategic-merge-patch+json', 'strategic'],
  ['application/apply-patch+yaml', 'apply'],
  ['application/apply-patch+cbor', 'apply-cbor'],
]);

/** PATCH of an object or of a subresource that has the object's own form. */
export async function patchObject(
  services: RestServices,
  endpoint: Endpoint,
  request: RestRequest,
): Promise<HttpResponse> {
  const { http, info } = request;
  const kind = patchKind(http, endpoint, services.mediaTypes);
  requireNamespace(endpoint, info);
  const negotiated = negotiate(http, services.mediaTypes, objectPath(endpoint.definition, info.subresource));
  const span = request.trace?.span;
  const body = await readRequestBody(services, endpoint, request, 'patch');
  const applies = isApply(kind);
  const options = patchOptions(http, applies);
  const recording = request.trail?.requestPatch(body, workersFor(endpoint.registry, body.length));
  if (recording !== undefined) await recording;
  span?.event('Recorded the audit event');
  const { versions, settle } = conversionsOf(endpoint);
  const manager = managerName(options.fieldManager, http);
  const now = services.clock();
  const warn = (text: string): void => request.warn(text);
  const prepared = (): MaybePromise<Patch> => {
    const target = targetOf(endpoint, info.subresource, now, versions);
    const context = { target, options, manager, subresource: info.subresource, now, warn };
    return whenReady(patchReader(services.converter, kind, body), (read) => preparePatch(kind, read, context));
  };
  const { subresource } = info;
  const change = { endpoint, request, how: kind, options, manager, nowMs: now.getTime(), body, subresource };
  const checking = orRefused(() => checkedPatch(change, prepared));
  const checked = checking instanceof Promise ? await checking : checking;
  const work = workOn(body.length);
  if (work.isLarge) await work.pause();
  const { stored, created } = await writeObject(services, endpoint, {
    request,
    subresource,
    dryRun: options.dryRun,
    options,
    createMissing: applies && subresource === '',
    bytes: body.length,
    change(current, found) {
      // A kind whose PUT may create calls the change for a missing object, too.
      if (current === undefined && !applies) throw notFound(endpoint.resource, info.name);
      span?.event('About to apply patch');
      if ('refused' in checked) throw checked.refused;
      // One that was large to begin with is so without.
      const bytes = 'patch' in checked ? found.bytes * checked.patch.growth : found.bytes;
      const inline = (): MaybePromise<KubeObject> =>
        whenReady('patch' in checked ? checked.patch : prepared(), (patch) => {
          const live = current === undefined ? undefined : inVersion(endpoint, current);
          return whenReady(
            settle(() => workOn(bytes).run(patch.steps(live))),
            (object) => {
              checkIdentity(object, current !== undefined, endpoint, info);
              return toStorage(endpoint, object);
            },
          );
        });
      const patching = offload(
        workersFor(endpoint.registry, bytes),
        (workers) => patchOnWorker(workers, change, checked, found),
        inline,
      );
      return whenReady(patching, (object) => {
        if (bytes > found.bytes) addSizeHint(object, bytes - found.bytes);
        span?.event('About to check admission control');
        return object;
      });
    },
  });
  span?.event('Object stored in database');
  span?.event('About to write a response');
  return respondTimed(
    request,
    { endpoint, request: http, negotiated, clock: services.clock, converter: services.converter },
    created ? 201 : 200,
    stored,
  );
}

/** A patch that can be read: as a function, or as another thread has read it. */
type CheckedPatch = { readonly patch: Patch } | { readonly made: ChangeMade };

/** Errors of a patch are reported only where there is an object to patch. */
type Refused = { readonly refused: StatusError };

function orRefused(check: () => MaybePromise<CheckedPatch>): MaybePromise<CheckedPatch | Refused> {
  const refusedBy = (error: unknown): Refused => {
    if (error instanceof StatusError) return { refused: error };
    throw error;
  };
  try {
    const checked = check();
    return checked instanceof Promise ? checked.catch(refusedBy) : checked;
  } catch (error) {
    return refusedBy(error);
  }
}

const checkedPatch = (change: ChangeRequest, prepared: () => MaybePromise<Patch>): MaybePromise<CheckedPatch> =>
  offload<CheckedPatch>(
    workersFor(change.endpoint.registry, change.body.length),
    async (workers) => ({ made: await makeOnWorker(workers, change, { checkOnly: true }) }),
    () => whenReady(prepared(), (patch) => ({ patch })),
  );

async function patchOnWorker(
  workers: WorkerPool,
  change: ChangeRequest,
  checked: CheckedPatch,
  { stored }: Found,
): Promise<KubeObject> {
  const { endpoint, request } = change;
  const { tree, read } = 'made' in checked ? checked.made : {};
  const before = tree === undefined || read === undefined ? {} : { body: tree, read };
  const made = await makeOnWorker(workers, change, { ...before, live: stored?.json });
  const object = await objectMade(endpoint, made);
  checkIdentity(object, stored !== undefined, endpoint, request.info);
  return object;
}

/** A change leaves an object what it is; who states a uid means an object that is there. */
function checkIdentity(object: KubeObject, exists: boolean, endpoint: Endpoint, info: RestRequest['info']): void {
  const { uid } = object.metadata;
  if (uid && !exists) {
    const why = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`;
    throw conflict(endpoint.resource, info.name, why);
  }
  matchNamespace(object, endpoint.definition.namespaced, info.namespace);
  checkName(object, info.name);
}

/** Decodes a patch: a large one now, cooperatively. Its errors are thrown when it is used. */
export function patchReader(converter: Converter, kind: PatchKind, body: Buffer): MaybePromise<ReadTree> {
  const encoding = encodingOf(kind);
  if (!workOn(body.length).isLarge) return (options) => readPatch(encoding, body, options);
  return readLargePatch(converter, encoding, body).then(
    (tree) => () => tree,
    (error: unknown) => () => {
      throw error;
    },
  );
}

/**
 * Custom resources have no merge keys: they accept no strategic merge patches. Applies come in CBOR where objects do.
 */
export function patchKind(
  http: HttpRequest,
  { definition }: Pick<Endpoint, 'definition'>,
  mediaTypes: readonly MediaType[],
): PatchKind {
  const stated = http.headers['content-type'] ?? '';
  const end = stated.indexOf(';');
  const sent = end < 0 ? stated : stated.slice(0, end);
  const withCbor = mediaTypes.includes(CBOR_TYPE);
  const isAccepted = (kind: PatchKind): boolean =>
    (kind !== 'strategic' || !definition.custom) && (kind !== 'apply-cbor' || withCbor);
  const kind = PATCH_TYPES.get(sent);
  if (kind !== undefined && isAccepted(kind)) return kind;
  // Of a built-in kind the route already refuses it, in fewer words, unless one among several types is known there.
  const isRouted = (one: string): boolean => {
    const known = PATCH_TYPES.get(trimSpaces(one.split(';', 1)[0] ?? ''));
    return known !== undefined && isAccepted(known);
  };
  if (!definition.custom && !stated.split(',').some(isRouted)) throw wrongMediaType();
  throw unsupportedMediaType([...PATCH_TYPES].filter(([, other]) => isAccepted(other)).map(([type]) => type));
}
