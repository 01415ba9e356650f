import { errorText } from '../../lib/text/error-text.js';
import type { Endpoint } from '../contract/endpoint.js';
import type { RestRequest } from '../contract/request.js';
import type { BodyVerb } from '../contract/metrics.js';
import type { RestServices } from '../contract/services.js';

/** The whole body of a write, counted and noted in the request's trace. */
export async function readRequestBody(
  { maxBodyBytes, metrics }: RestServices,
  { resource }: Endpoint,
  { http, trace }: RestRequest,
  verb: BodyVerb,
): Promise<Buffer> {
  let body: Buffer;
  try {
    body = await http.body(maxBodyBytes);
  } catch (error) {
    trace?.span?.event('limitedReadBody failed', { len: 0, err: errorText(error) });
    throw error;
  }
  metrics.body(resource, verb, body.length);
  trace?.span?.event('limitedReadBody succeeded', { len: body.length });
  return body;
}
