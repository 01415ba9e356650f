// How a gRPC call went, by what came over HTTP/2: a status of gRPC's, or one that its specification gives to an HTTP
// status, a reset or an answer that is not gRPC's at all. The texts are those of kube-apiserver's client.
import { STATUS_CODES } from 'node:http';
import { base64Fault } from '../lib/text/base64-fault.js';
import { goQuote } from '../lib/go/quote.js';
import { resetName, resetNameOf, type ResetName } from '../lib/http/http2-reset.js';
import type { GoAway } from '../wire/http2/client-connection.js';
import type { HeaderFields } from '../wire/http2/response-heads.js';
import { INTERNAL, RESOURCE_EXHAUSTED, UNAVAILABLE, UNKNOWN } from './grpc-error.js';

export interface Outcome {
  readonly status: number;
  readonly message: string;
}

const CANCELED = 1;
const PERMISSION_DENIED = 7;
const UNIMPLEMENTED = 12;
const UNAUTHENTICATED = 16;

const BY_HTTP_STATUS: ReadonlyMap<number, number> = new Map([
  [400, INTERNAL],
  [401, UNAUTHENTICATED],
  [403, PERMISSION_DENIED],
  [404, UNIMPLEMENTED],
  [429, UNAVAILABLE],
  [502, UNAVAILABLE],
  [503, UNAVAILABLE],
  [504, UNAVAILABLE],
]);

/** Of the resets that HTTP/2 names, those that mean something else than that a rule was broken. */
const BY_RESET: { readonly [name in ResetName]?: number } = {
  FLOW_CONTROL_ERROR: RESOURCE_EXHAUSTED,
  REFUSED_STREAM: UNAVAILABLE,
  CANCEL: CANCELED,
  ENHANCE_YOUR_CALM: RESOURCE_EXHAUSTED,
  INADEQUATE_SECURITY: PERMISSION_DENIED,
};

function statusOfReset(code: number): number {
  const name = resetNameOf(code);
  return name === undefined ? UNKNOWN : (BY_RESET[name] ?? INTERNAL);
}

export const NO_TRAILERS: Outcome = {
  status: INTERNAL,
  message: 'server closed the stream without sending trailers',
};

export const resetOutcome = (code: number): Outcome => ({
  status: statusOfReset(code),
  message: `stream terminated by RST_STREAM with error code: ${resetName(code)}`,
});

/** The server did not look at the request, and will not. */
export const REFUSED: Outcome = { status: UNAVAILABLE, message: 'the connection is draining' };

/** `why` the connection ended, where the server did not say before that it leaves. */
export function lostOutcome(why: string, goAway: GoAway | undefined): Outcome {
  const read = `error reading from server: ${why}`;
  if (goAway === undefined) return { status: UNAVAILABLE, message: read };
  const words = goAway.debugData === '' ? '' : `, debug data: ${goQuote(goAway.debugData)}`;
  const before = `received prior goaway: code: ${resetName(goAway.code)}${words}`;
  return { status: UNAVAILABLE, message: `closing transport due to: connection error: desc = "${read}", ${before}` };
}

/** Of the headers that an answer begins with: why they are no answer to a call. */
export function headFault(headers: HeaderFields): Outcome | undefined {
  if (FAULTLESS.has(headers)) return undefined;
  const fault = findFault(headers);
  if (fault === undefined) FAULTLESS.add(headers);
  return fault;
}

/** Answers begin and end with the same few blocks, which are looked at once. */
const FAULTLESS = new WeakSet<HeaderFields>();
const OUTCOMES = new WeakMap<HeaderFields, Outcome>();

function findFault(headers: HeaderFields): Outcome | undefined {
  const malformed = malformedStatus(headers);
  if (malformed !== undefined) return malformed;
  const httpStatus = Number(headers[':status']);
  const faults: string[] = [];
  if (httpStatus !== 200) {
    const text = STATUS_CODES[httpStatus] ?? '';
    faults.push(`unexpected HTTP status code received from server: ${httpStatus} (${text})`);
  }
  const type = headers['content-type'];
  if (type === undefined) faults.push('malformed header: missing HTTP content-type');
  else if (!isGrpcType(type)) faults.push(`transport: received unexpected content-type ${goQuote(type)}`);
  if (faults.length === 0) return malformedMetadata(headers);
  return { status: BY_HTTP_STATUS.get(httpStatus) ?? UNKNOWN, message: faults.join('; ') };
}

/** Of the headers that an answer ends with, which may be those it begins with. */
export function endOutcome(headers: HeaderFields): Outcome {
  let outcome = OUTCOMES.get(headers);
  if (outcome === undefined) {
    outcome = outcomeOf(headers);
    OUTCOMES.set(headers, outcome);
  }
  return outcome;
}

function outcomeOf(headers: HeaderFields): Outcome {
  const fault = malformedStatus(headers) ?? malformedMetadata(headers);
  if (fault !== undefined) return fault;
  const status = headers['grpc-status'];
  return {
    status: status === undefined ? UNKNOWN : Number(status) >>> 0,
    message: percentDecoded(String(headers['grpc-message'] ?? '')),
  };
}

const GRPC_TYPE = 'application/grpc';

const isGrpcType = (type: string): boolean =>
  type.startsWith(GRPC_TYPE) && ['', '+', ';'].includes(type.charAt(GRPC_TYPE.length));

const MAX_INT32 = 0x7fffffff;

function malformedStatus(headers: HeaderFields): Outcome | undefined {
  const sent = headers['grpc-status'];
  if (sent === undefined) return undefined;
  const text = String(sent);
  const isNumber = /^[+-]?\d+$/.test(text);
  const value = Number(text);
  if (isNumber && value <= MAX_INT32 && value >= -MAX_INT32 - 1) return undefined;
  const why = isNumber ? 'value out of range' : 'invalid syntax';
  const message = `transport: malformed grpc-status: strconv.ParseInt: parsing ${goQuote(text)}: ${why}`;
  return { status: INTERNAL, message };
}

/** Metadata whose names end so are bytes in base64, with or without padding. */
function malformedMetadata(headers: HeaderFields): Outcome | undefined {
  for (const [name, value] of Object.entries(headers)) {
    if (!name.endsWith('-bin') || value === undefined) continue;
    const fault = base64Fault(value, { url: false, padded: value.length % 4 === 0 });
    if (fault === undefined) continue;
    return { status: INTERNAL, message: `transport: malformed ${name}: illegal base64 data at input byte ${fault}` };
  }
  return undefined;
}

/** What is no escape stays as it is: what a server says of a failure must not become another. */
function percentDecoded(text: string): string {
  if (!text.includes('%')) return text;
  const bytes = Buffer.from(text, 'latin1');
  const decoded = Buffer.alloc(bytes.length);
  let length = 0;
  for (let at = 0; at < bytes.length; at++) {
    const digits = text.slice(at + 1, at + 3);
    const isEscape = text[at] === '%' && digits.length === 2 && /^[\da-fA-F]{2}$/.test(digits);
    decoded[length++] = isEscape ? Number.parseInt(digits, 16) : (bytes[at] ?? 0);
    if (isEscape) at += 2;
  }
  return decoded.toString('utf8', 0, length);
}
