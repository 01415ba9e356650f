// `responseStatus`: the code that was answered, and what else a Status said.
import { workOn } from '../lib/scheduling/sized-work.js';
import type { Status } from '../machinery/status.js';
import { metaType } from '../schema/catalogue.js';
import { encodeJson } from '../schema/json/encode.js';
import type { EventResponse, JsonBytes } from './event.js';

export type KnownStatus = Pick<Status, 'status' | 'message' | 'reason' | 'details'>;

const HEAD = '{"kind":"Status","apiVersion":"v1",';

/** The Status of an answer, as it was encoded. */
export function responseOfStatus(code: number, encoded: JsonBytes): EventResponse {
  // A long Status is not parsed and encoded again: only its kind and version differ here.
  if (workOn(encoded.length).isLarge) {
    const json = encoded.toString();
    if (json.startsWith(HEAD)) return { code, json: `{${json.slice(HEAD.length)}`, plain: false };
  }
  return responseOf(code, JSON.parse(encoded.toString()) as Status);
}

const plain = new Map<number, EventResponse>();

export function responseOf(code: number, known: KnownStatus | undefined): EventResponse {
  if (known === undefined) {
    let response = plain.get(code);
    if (response === undefined)
      plain.set(code, (response = { code, json: `{"metadata":{},"code":${code}}`, plain: true }));
    return response;
  }
  const { status, message, reason, details } = known;
  const json = encodeJson(metaType('Status'), { metadata: {}, status, message, reason, details, code });
  return { code, json, plain: false };
}
