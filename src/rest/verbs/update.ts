import type { BodyTrail } from '../../audit/trail.js';
import { type WorkerPool, withInlineFallback } from '../../lib/async/worker-pool.js';
import type { HttpResponse } from '../../lib/http/http.js';
import { type MaybePromise, whenReady } from '../../lib/async/maybe-promise.js';
import { runSync, runCooperatively, LARGE_BYTES, yieldToEventLoop } from '../../lib/scheduling/yield.js';
import type { KubeObject } from '../../machinery/object.js';
import type { Found, UpdateResult } from '../../registry/update.js';
import { encodeJson } from '../../schema/json/encode.js';
import { acceptChanged, expectedOf } from '../body/accept-body.js';
import {
  type ChangeMade,
  type ChangeRequest,
  changesOnWorker,
  checkOnWorker,
  makeOnWorker,
  objectMade,
} from '../change/change-on-worker.js';
import { readBody } from '../body/decode-body.js';
import { type Endpoint, inVersion, toStorage } from '../contract/endpoint.js';
import { managerName } from '../contract/field-manager.js';
import { bodyMediaType, negotiate, objectPath } from '../wire/negotiate.js';
import { trackManagers } from '../change/track-managers.js';
import { updateOptions } from '../contract/query-options.js';
import { noteStoring } from '../contract/record-verb.js';
import type { RestRequest } from '../contract/request.js';
import { requireNamespace } from '../body/require-namespace.js';
import { respondTimed } from '../answer/timed.js';
import { readRequestBody } from '../body/read-body.js';
import type { RestServices } from '../contract/services.js';
import type { Span } from '../../tracing/trace.js';
import { conversionsOf } from '../change/versions.js';
import { writeObject, type WriteRequest } from './write-object.js';

const CONVERTED = 'Conversion done';

/** PUT of an object or of a subresource that has the object's own form. */
export async function updateObject(
  services: RestServices,
  endpoint: Endpoint,
  request: RestRequest,
): Promise<HttpResponse> {
  const { http, info } = request;
  const negotiated = negotiate(http, services.mediaTypes, objectPath(endpoint.definition, info.subresource));
  const span = request.trace?.span;
  const body = await readRequestBody(services, endpoint, request, 'update');
  const options = updateOptions(http);
  bodyMediaType(http, services.mediaTypes);
  const { subresource } = info;
  const manager = managerName(options.fieldManager, http);
  const { mediaTypes, converter } = services;
  const { fieldValidation } = options;
  const expected = expectedOf(endpoint, subresource);
  const read = (warn: (text: string) => void, trail?: BodyTrail, trace?: Span): MaybePromise<KubeObject> => {
    const sentBody = readBody(converter, http, body, expected, { mediaTypes, fieldValidation, warn });
    return whenReady(sentBody, (object) => {
      trace?.event(CONVERTED);
      trail?.requestObject(object, (sent) => encodeJson(endpoint.type, sent));
      acceptChanged(endpoint, object, info, warn);
      return object;
    });
  };
  span?.event('About to convert to expected version');
  // hot: only large ones are made on a worker.
  const change = (): ChangeRequest => ({
    endpoint,
    request,
    how: 'update',
    options: { ...options, force: false },
    manager,
    nowMs: services.clock().getTime(),
    body,
    mediaType: bodyMediaType(http, mediaTypes).name,
    subresource,
  });
  // An attempt uses the object up. Another is rare, so the body is then read again rather than copied before.
  const first = (): MaybePromise<KubeObject> => read((text) => request.warn(text), request.trail, span);
  const workers = changesOnWorker(endpoint, body.length);
  const reading =
    workers === undefined
      ? first()
      : withInlineFallback<KubeObject | ChangeMade>(checkOnWorker(workers, change()), first);
  const checked = reading instanceof Promise ? await reading : reading;
  if (!('metadata' in checked)) span?.event(CONVERTED);
  requireNamespace(endpoint, info);
  if (body.length > LARGE_BYTES) await yieldToEventLoop();
  let sent = 'metadata' in checked ? checked : undefined;
  const uid = 'metadata' in checked ? checked.metadata.uid : checked.uid;
  const { versions, settle } = conversionsOf(endpoint);
  const write: WriteRequest = {
    request,
    subresource,
    dryRun: options.dryRun,
    options,
    uid,
    bytes: body.length,
    async change(current, found) {
      const note = (object: KubeObject): MaybePromise<KubeObject> => {
        const live = current === undefined ? undefined : inVersion(endpoint, current);
        const now = services.clock();
        const steps = trackManagers(endpoint, { live, object, manager, subresource, now, versions });
        if (found.bytes > LARGE_BYTES) return runCooperatively(steps).then(() => toStorage(endpoint, object));
        runSync(steps);
        return toStorage(endpoint, object);
      };
      const inline = (): MaybePromise<KubeObject> =>
        settle(() => {
          const object = sent ?? read(() => undefined);
          sent = undefined;
          return whenReady(object, note);
        });
      const elsewhere = changesOnWorker(endpoint, found.bytes);
      return elsewhere === undefined
        ? inline()
        : withInlineFallback(changeOnWorker(elsewhere, change(), found), inline);
    },
  };
  const storing = (): Promise<UpdateResult> => writeObject(services, endpoint, write);
  const { stored, created } = await noteStoring(span, body.length, storing);
  span?.event('About to write a response');
  return respondTimed(
    request,
    { endpoint, request: http, negotiated, clock: services.clock, converter: services.converter },
    created ? 201 : 200,
    stored,
  );
}

/** The body was read before, and what there was to warn of is known. */
async function changeOnWorker(workers: WorkerPool, change: ChangeRequest, { stored }: Found): Promise<KubeObject> {
  const { endpoint } = change;
  return objectMade(endpoint, await makeOnWorker(workers, change, { live: stored?.json }, () => undefined));
}
