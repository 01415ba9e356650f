import type { BodyTrail } from '../audit/trail.js';
import type { HttpResponse } from '../lib/http.js';
import { type MaybePromise, whenReady } from '../lib/maybe-promise.js';
import { atOnce, inTurns, LARGE_BYTES, nextTurn } from '../lib/turns.js';
import type { KubeObject } from '../machinery/object.js';
import { matchNamespace } from '../registry/system-fields.js';
import type { UpdateResult } from '../registry/update.js';
import { encodeJson } from '../schema/json/encode.js';
import { expectedOf } from './create.js';
import { readBody } from './decode-body.js';
import { type Endpoint, inVersion, toStorage } from './endpoint.js';
import { managerName } from './field-manager.js';
import { negotiate } from './negotiate.js';
import { noteSteps } from './note-write.js';
import { dedupOwnerReferences } from './owner-references.js';
import { updateOptions } from './query-options.js';
import { noteStoring } from './record-verb.js';
import type { RestRequest } from './request.js';
import { respondObject } from './respond.js';
import type { RestServices } from './services.js';
import { conversionsOf } from './versions.js';
import { checkName, writeObject, type WriteRequest } from './write-object.js';

/** PUT of an object or of a subresource that has the object's own form. */
export async function updateObject(
  services: RestServices,
  endpoint: Endpoint,
  request: RestRequest,
): Promise<HttpResponse> {
  const { http, info } = request;
  const negotiated = negotiate(http, services.mediaTypes);
  const span = request.trace?.span;
  const body = await http.body(services.maxBodyBytes);
  span?.event('limitedReadBody succeeded', { len: body.length });
  const options = updateOptions(http);
  const read = (warn: (text: string) => void, trail?: BodyTrail): MaybePromise<KubeObject> => {
    const { mediaTypes, converter } = services;
    const { fieldValidation } = options;
    const sentBody = readBody(converter, http, body, expectedOf(endpoint), { mediaTypes, fieldValidation, warn });
    return whenReady(sentBody, (object) => accepted(object, warn, trail));
  };
  const accepted = (object: KubeObject, warn: (text: string) => void, trail?: BodyTrail): KubeObject => {
    trail?.requestObject(object, (sent) => encodeJson(endpoint.type, sent));
    matchNamespace(object, endpoint.definition.namespaced, info.namespace);
    checkName(object, info.name);
    dedupOwnerReferences(object, warn, false);
    return object;
  };
  // An attempt uses the object up. Another is rare, so the body is then read again rather than copied before.
  span?.event('About to convert to expected version');
  const reading = read((text) => request.warn(text), request.trail);
  let sent: KubeObject | undefined = reading instanceof Promise ? await reading : reading;
  span?.event('Conversion done');
  const large = body.length > LARGE_BYTES;
  if (large) await nextTurn();
  const { uid } = sent.metadata;
  const manager = managerName(options.fieldManager, http);
  const { versions, settle } = conversionsOf(endpoint);
  const write: WriteRequest = {
    request,
    subresource: info.subresource,
    dryRun: options.dryRun,
    options,
    uid,
    bytes: body.length,
    async change(current, { bytes }) {
      const note = (object: KubeObject): MaybePromise<KubeObject> => {
        const live = current === undefined ? undefined : inVersion(endpoint, current);
        const now = services.clock();
        const steps = noteSteps(endpoint, { live, object, manager, subresource: info.subresource, now, versions });
        if (bytes > LARGE_BYTES) return inTurns(steps).then(() => toStorage(endpoint, object));
        atOnce(steps);
        return toStorage(endpoint, object);
      };
      return settle(() => {
        const object = sent ?? read(() => undefined);
        sent = undefined;
        return whenReady(object, note);
      });
    },
  };
  const storing = (): Promise<UpdateResult> => writeObject(services, endpoint, write);
  const { stored, created } = await noteStoring(span, body.length, storing);
  span?.event('About to write a response');
  return respondObject(
    { endpoint, request: http, negotiated, clock: services.clock, converter: services.converter },
    created ? 201 : 200,
    stored,
  );
}
