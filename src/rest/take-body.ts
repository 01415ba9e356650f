import type { HttpRequest } from '../lib/http.js';
import type { Endpoint } from './endpoint.js';
import type { BodyVerb } from './rest-metrics.js';
import type { RestServices } from './services.js';

/** The whole body of a write, counted. */
export async function takeBody(
  { maxBodyBytes, metrics }: RestServices,
  { resource }: Endpoint,
  http: HttpRequest,
  verb: BodyVerb,
): Promise<Buffer> {
  const body = await http.body(maxBodyBytes);
  metrics.body(resource, verb, body.length);
  return body;
}
