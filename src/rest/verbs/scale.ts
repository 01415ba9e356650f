// The scale subresource: a workload seen as nothing but its number of replicas.
import { offload } from '../../lib/async/worker-pool.js';
import { goQuote } from '../../lib/go/quote.js';
import type { HttpResponse } from '../../lib/http/http.js';
import { workOn } from '../../lib/scheduling/sized-work.js';
import type { KubeObject } from '../../machinery/object.js';
import { internalError } from '../../machinery/status.js';
import { markNeedsPruning } from '../../machinery/needs-pruning.js';
import type { ScaleAccess } from '../../registry/kind.js';
import { loaded } from '../../storage/store.js';
import { get } from '../../registry/list.js';
import { workersFor } from '../../registry/registry.js';
import type { UpdateResult } from '../../registry/update.js';
import { encodeJson } from '../../schema/json/encode.js';
import { type ChangeMade, type ChangeRequest, checkOnWorker } from '../change/change-on-worker.js';
import { readBody } from '../body/decode-body.js';
import type { Endpoint } from '../contract/endpoint.js';
import { managerName } from '../contract/field-manager.js';
import { checkResourceVersion } from './get.js';
import { bodyMediaType, negotiate } from '../wire/negotiate.js';
import { patchKind, patchReader } from './patch.js';
import { isApply } from '../patch/patch-kinds.js';
import { patchOptions, updateOptions, type WriteOptions } from '../contract/query-options.js';
import { noteStoring } from '../contract/record-verb.js';
import type { RestRequest } from '../contract/request.js';
import { respondScale, scaleType } from '../answer/scale-answer.js';
import { scaleOnWorker } from '../change/scale-on-worker.js';
import {
  acceptScale,
  expectedScale,
  patchedScale,
  SCALE,
  type Scale,
  type ScaleChange,
  type Scaled,
  scaledSteps,
  scaleOf,
  setScale,
  updatedScale,
  validateScale,
} from '../change/scale-change.js';
import { readRequestBody } from '../body/read-body.js';
import type { Span } from '../../tracing/trace.js';
import type { RestServices } from '../contract/services.js';
import { writeObject, type WriteRequest } from './write-object.js';

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
  const stored = await get(endpoint.registry, {
    namespace: info.namespace,
    name: info.name,
    resourceVersion,
    trace: request.trace,
  });
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
  const { mediaTypes, converter } = services;
  const span = request.trace?.span;
  const body = await readRequestBody(services, endpoint, request, 'update');
  const options = updateOptions(http);
  const { fieldValidation } = options;
  const mediaType = bodyMediaType(http, mediaTypes).name;
  span?.event('About to convert to expected version');
  const manager = managerName(options.fieldManager, http);
  const now = services.clock();
  const read = async (warn: (text: string) => void): Promise<KubeObject> =>
    readBody(http, body, expectedScale(endpoint), { converter, mediaTypes, fieldValidation, warn });
  const first = async (): Promise<KubeObject> => {
    const sent = await read((text) => request.warn(text));
    request.trail?.requestObject(sent, (scale) => encodeJson(scaleType(), scale));
    // Reported also where there is nothing to scale.
    acceptScale(sent, info);
    return sent;
  };
  const change: ChangeRequest = {
    endpoint,
    request,
    how: 'update',
    options: { ...options, force: false },
    manager,
    nowMs: now.getTime(),
    body,
    mediaType,
    subresource: 'scale',
  };
  const checked = await offload<KubeObject | ChangeMade>(
    workersFor(endpoint.registry, body.length),
    (workers) => checkOnWorker(workers, change),
    first,
  );
  span?.event('Conversion done');
  const sent = 'metadata' in checked ? checked : undefined;
  return write(services, access, {
    change,
    options: { ...options, uid: 'metadata' in checked ? checked.metadata.uid : checked.uid },
    prepare: async () => updatedScale(sent ?? (await read(() => undefined)), manager, now),
    // The body was read before.
    warn: () => undefined,
    noted: (store) => noteStoring(span, body.length, store),
  });
}

export async function patchScale(
  services: RestServices,
  endpoint: Endpoint,
  request: RestRequest,
  access: ScaleAccess,
): Promise<HttpResponse> {
  const { http } = request;
  const kind = patchKind(http, endpoint, services.mediaTypes);
  const span = request.trace?.span;
  const body = await readRequestBody(services, endpoint, request, 'patch');
  const options = patchOptions(http, isApply(kind));
  const recording = request.trail?.requestPatch(body, workersFor(endpoint.registry, body.length));
  if (recording !== undefined) await recording;
  span?.event('Recorded the audit event');
  const now = services.clock();
  const manager = managerName(options.fieldManager, http);
  const warn = (text: string): void => request.warn(text);
  const context = { options, manager, subresource: 'scale', now, warn };
  return write(services, access, {
    change: { endpoint, request, how: kind, options, manager, nowMs: now.getTime(), body, subresource: 'scale' },
    options,
    prepare: async () => patchedScale(endpoint, kind, await patchReader(services.converter, kind, body), context),
    warn,
    patching: span,
    async noted(store) {
      const stored = await store();
      span?.event('Object stored in database');
      return stored;
    },
  });
}

interface ScaleWrite {
  readonly change: ChangeRequest;
  readonly options: WriteOptions & { readonly uid?: string | undefined };
  /** Decodes what was sent. Its errors are reported only where there is an object to scale. */
  prepare(): Promise<ScaleChange>;
  readonly warn: (text: string) => void;
  /** Records the steps of a patch. */
  readonly patching?: Span | undefined;
  noted(store: () => Promise<UpdateResult>): Promise<UpdateResult>;
}

async function write(services: RestServices, access: ScaleAccess, scaling: ScaleWrite): Promise<HttpResponse> {
  const { change } = scaling;
  const { uid, ...options } = scaling.options;
  const { endpoint, request, body } = change;
  const { http, info } = request;
  const negotiated = negotiate(http, services.mediaTypes);
  const seen = new WeakMap<object, Scale>();
  const changed = new WeakSet<object>();
  const written: WriteRequest = {
    request,
    subresource: 'scale',
    dryRun: options.dryRun,
    options,
    finishedView: {
      kind: SCALE,
      of: (object) => scaleOf(object, access),
      write: (object, scale: Readonly<Scale>) => setScale(endpoint, access, object, scale),
    },
    view: {
      kind: SCALE,
      of: (object) => seen.get(object) ?? scaleOf(object, access),
      write(object, scale: Readonly<Scale>) {
        setScale(endpoint, access, object, scale);
        seen.set(object, scale);
        changed.add(object);
      },
    },
    uid,
    checkAdmitted(object) {
      const scale = changed.has(object) ? seen.get(object) : undefined;
      if (scale !== undefined) validateScale(endpoint, info.name, scale);
    },
    async change(current, found) {
      if (current === undefined) throw new Error('a scale is never created');
      scaling.patching?.event('About to apply patch');
      const small = workOn(body.length).isLarge ? undefined : await scaling.prepare();
      const bytes = Math.max(body.length, found.bytes) * (small?.growth ?? 1);
      const inline = async (): Promise<Scaled> => {
        const steps = scaledSteps({
          endpoint,
          access,
          path: info,
          current,
          change: small ?? (await scaling.prepare()),
        });
        return workOn(bytes).run(steps);
      };
      const { object, live, scale } = await offload(
        workersFor(endpoint.registry, bytes),
        (workers) => scaleOnWorker(workers, change, found, scaling.warn),
        inline,
      );
      // The schema may not know the place.
      if (endpoint.definition.custom) markNeedsPruning(object);
      seen.set(current, live).set(object, scale);
      scaling.patching?.event('About to check admission control');
      return object;
    },
  };
  const { stored } = await scaling.noted(() => writeObject(services, endpoint, written));
  request.trace?.span?.event('About to write a response');
  return respondScale(
    { endpoint, request: http, negotiated, clock: services.clock },
    scaleOf(await loaded(stored), access),
  );
}
