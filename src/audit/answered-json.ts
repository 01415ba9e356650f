import { type AnsweredForm, bodyBytes, type HttpResponse, isStream } from '../lib/http/http.js';
import { type MaybePromise, whenReady } from '../lib/async/maybe-promise.js';
import { workOn } from '../lib/scheduling/sized-work.js';
import type { JsonBytes } from './event.js';
import { withoutManagedFields } from './managed-fields.js';

const NEWLINE = 0x0a;

/** The object an answer is, as JSON: the bytes for the client where they are that. */
export function answeredJson({ body, object }: HttpResponse): MaybePromise<JsonBytes> {
  if (object === undefined) throw new Error('an answer that is no object');
  return whenReady(object.json === undefined ? wholeBody(body) : object.json(), trimmed);
}

/** Of a large one cooperatively. */
export function unmanagedJson(json: JsonBytes, form: AnsweredForm): MaybePromise<JsonBytes> {
  const steps = withoutManagedFields(typeof json === 'string' ? Buffer.from(json) : json, form);
  return workOn(json.length).run(steps);
}

/** Large answers queue for each other: each is copied here, and once more when it is encoded. */
function wholeBody(body: HttpResponse['body']): MaybePromise<JsonBytes> {
  if (body === undefined || isStream(body)) throw new Error('an answer in pieces that does not say what object it is');
  return whenReady(workOn(bodyBytes(body) ?? 0).pause(), () => joined(body));
}

const joined = (body: JsonBytes | readonly Buffer[]): JsonBytes =>
  typeof body === 'string' || Buffer.isBuffer(body) ? body : Buffer.concat(body);

/** An event stands on one line. */
function trimmed(json: JsonBytes): JsonBytes {
  if (typeof json === 'string') return json.endsWith('\n') ? json.slice(0, -1) : json;
  return json.at(-1) === NEWLINE ? json.subarray(0, -1) : json;
}
