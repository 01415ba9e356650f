// Traces between programs: the headers of W3C's Trace Context and Baggage, read as strictly as kube-apiserver does.
import type { TraceHeaders } from './trace.js';

export interface SpanContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  readonly sampled: boolean;
  /** What vendors pass along; empty where nothing, or nothing that can be read, came. */
  readonly state: string;
}

/** What a client sent, as it was sent; the first where a header came several times. */
export interface SentHeaders {
  readonly traceparent: string | undefined;
  readonly tracestate: string | undefined;
  readonly baggage: string | undefined;
}

const LAST_VERSION = 'fe';
const MAX_FLAGS_OF_FIRST = 2;
const LENGTH_OF_FIRST = 55;
const HEX = /^[0-9a-f]*$/;
const ONLY_ZEROS = /^0*$/;

/** Undefined for a header that names no trace. */
export function readSpanContext({ traceparent, tracestate }: SentHeaders): SpanContext | undefined {
  if (traceparent === undefined) return undefined;
  const [version = '', traceId = '', spanId = '', flags = ''] = traceparent.split('-', 4);
  if (version.length !== 2 || traceId.length !== 32 || spanId.length !== 16 || flags.length !== 2) return undefined;
  if (!HEX.test(version + traceId + spanId + flags) || version > LAST_VERSION) return undefined;
  if (ONLY_ZEROS.test(traceId) || ONLY_ZEROS.test(spanId)) return undefined;
  const bits = Number.parseInt(flags, 16);
  // Later versions may say more, after a dash; of the first it is known what it says.
  const more = traceparent.slice(LENGTH_OF_FIRST + 1);
  if (version === '00' && (more !== '' || bits > MAX_FLAGS_OF_FIRST)) return undefined;
  return { traceId, spanId, sampled: (bits & 1) === 1, state: readState(tracestate) };
}

export function traceHeaders({ traceId, spanId, sampled, state }: SpanContext, baggage: string): TraceHeaders {
  return {
    traceparent: `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`,
    ...(state !== '' && { tracestate: state }),
    ...(baggage !== '' && { baggage }),
  };
}

const MAX_STATES = 32;
const STATE_KEY = /^(?:[a-z][a-z0-9_\-*/]{0,255}|[a-z0-9][a-z0-9_\-*/]{0,240}@[a-z][a-z0-9_\-*/]{0,13})$/;
const STATE_VALUE = /^[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;

/** All of it or nothing. */
function readState(text = ''): string {
  const members = text.split(',').filter((member) => member !== '');
  if (members.length > MAX_STATES) return '';
  const states = new Map<string, string>();
  for (const member of members) {
    const at = member.indexOf('=');
    const key = member.slice(0, Math.max(0, at)).trimStart();
    const value = member.slice(at + 1).trimEnd();
    if (!STATE_KEY.test(key) || !STATE_VALUE.test(value) || states.has(key)) return '';
    states.set(key, value);
  }
  return [...states].map(([key, value]) => `${key}=${value}`).join(',');
}

const MAX_BAGGAGE_BYTES = 8192;
const MAX_BAGGAGE_MEMBERS = 180;
const TOKEN = "[\\w!#$%&'*+\\-.^`|~]+";
const BAGGAGE_VALUE = '[\\x21\\x23-\\x2b\\x2d-\\x3a\\x3c-\\x5b\\x5d-\\x7e]*';
const BAGGAGE_KEY = new RegExp(`^${TOKEN}$`);
const BAGGAGE_TEXT = new RegExp(`^${BAGGAGE_VALUE}$`);

/** What clients want everybody on the way to know; empty where it is not in its form. */
export function readBaggage(text = ''): string {
  if (text.length > MAX_BAGGAGE_BYTES) return '';
  const members = text.split(',').map((member) => member.trim());
  if (members.length > MAX_BAGGAGE_MEMBERS) return '';
  return members.every(isBaggageMember) ? members.join(',') : '';
}

/** `key=value;property;property=value` */
function isBaggageMember(member: string): boolean {
  const [pair = '', ...properties] = member.split(';');
  return pair.includes('=') && [pair, ...properties].every(isBaggagePair);
}

function isBaggagePair(pair: string): boolean {
  const at = pair.indexOf('=');
  const key = at < 0 ? pair : pair.slice(0, at);
  const value = at < 0 ? '' : pair.slice(at + 1);
  return BAGGAGE_KEY.test(key.trim()) && BAGGAGE_TEXT.test(value.trim());
}
