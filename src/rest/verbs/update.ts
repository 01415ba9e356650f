import type { HttpResponse } from '../../lib/http/http.js';
import { workOn } from '../../lib/scheduling/sized-work.js';
import { respondTimed } from '../answer/timed.js';
import { readRequestBody } from '../body/read-body.js';
import { requireNamespace } from '../body/require-namespace.js';
import type { Endpoint } from '../contract/endpoint.js';
import { updateOptions } from '../contract/query-options.js';
import { noteStoring } from '../contract/record-verb.js';
import type { RestRequest } from '../contract/request.js';
import type { RestServices } from '../contract/services.js';
import { bodyMediaType, negotiate, objectPath } from '../wire/negotiate.js';
import { SentUpdate } from './sent-update.js';
import { writeObject, type WriteRequest } from './write-object.js';

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
  const sent = new SentUpdate({ services, endpoint, request, body, options });
  span?.event('About to convert to expected version');
  const checking = sent.check();
  const uid = checking instanceof Promise ? await checking : checking;
  requireNamespace(endpoint, info);
  const work = workOn(body.length);
  if (work.isLarge) await work.pause();
  const write: WriteRequest = {
    request,
    subresource: info.subresource,
    dryRun: options.dryRun,
    options,
    uid,
    bytes: body.length,
    change: (current, found) => sent.change(current, found),
  };
  const { stored, created } = await noteStoring(span, body.length, () => writeObject(services, endpoint, write));
  span?.event('About to write a response');
  return respondTimed(
    request,
    { endpoint, request: http, negotiated, clock: services.clock, converter: services.converter },
    created ? 201 : 200,
    stored,
  );
}
