// An item as a tree, whatever it is. The form of the document has been checked.
import { MAX_INT64 } from '../../lib/values/int64.js';
import { FloatLiteral } from '../../lib/json/float-literal.js';
import { setMember } from '../../lib/values/plain-object.js';
import { parseTime } from '../../machinery/time.js';
import { trimEnd } from '../../lib/text/trim-end.js';
import { errorText } from '../../lib/text/error-text.js';
import {
  ARRAY,
  BYTES,
  type Cursor,
  FALSE,
  floatOf,
  MAP,
  NEGATIVE,
  NULL,
  PRIMITIVE,
  SELF_DESCRIBED,
  SORTS,
  TAG,
  TEXT,
  TRUE,
  UNSIGNED,
} from './cursor.js';
import { duplicateKey, Fault, refused, wrongSort } from './fault.js';

/** The tag that says how bytes are to be written, that of what holds an item too. */
export type WrittenAs = 21 | 22 | 23 | undefined;

export function readTree(cursor: Cursor, writtenAs?: WrittenAs): unknown {
  const fault = checkTags(cursor);
  if (fault !== undefined) return fault;
  switch (cursor.major) {
    case UNSIGNED:
    case NEGATIVE:
      return integer(cursor);
    case BYTES:
      return writtenBytes(cursor, writtenAs);
    case TEXT:
      return text(cursor);
    case ARRAY:
      return readList(cursor, () => readTree(cursor, writtenAs));
    case MAP:
      return readMap(cursor, (value) => readTree(value, writtenAs));
    case TAG:
      return tagged(cursor, writtenAs);
    default:
      return primitive(cursor);
  }
}

/** A map whose keys are texts; `read` reads each value. A key that is null is the one before it. */
export function readMap(cursor: Cursor, read: (cursor: Cursor, before: unknown) => unknown): unknown {
  const object: Record<string, unknown> = {};
  let fault: Fault | undefined;
  let duplicate: Fault | undefined;
  let lastKey = '';
  let before: unknown;
  cursor.each((index) => {
    if (duplicate !== undefined) {
      cursor.skip();
      cursor.skip();
      return;
    }
    const key = readText(cursor, lastKey);
    if (key instanceof Fault) {
      fault ??= key;
      cursor.skip();
      return;
    }
    lastKey = key;
    const value = read(cursor, before);
    if (value instanceof Fault) fault ??= value;
    else if (Object.hasOwn(object, key)) duplicate = duplicateKey(key, index);
    else {
      before = value;
      setMember(object, key, value);
    }
  });
  return duplicate ?? fault ?? object;
}

/** A text out of any string; null leaves what was there. */
export function readText(cursor: Cursor, before: string, goType = 'string', writtenAs?: WrittenAs): string | Fault {
  const fault = checkTags(cursor);
  if (fault !== undefined) return fault;
  const { major, first } = cursor;
  if (major === BYTES) return writtenBytes(cursor, writtenAs);
  if (major === TEXT) return text(cursor);
  if (major === TAG) return readText(cursor, before, goType, tagOf(cursor) ?? writtenAs);
  if (first === NULL) {
    cursor.skip();
    return before;
  }
  return misfit(cursor, goType);
}

/** Passes over an item that is of the wrong sort. */
export function misfit(cursor: Cursor, goType: string, why?: string): Fault {
  const { major } = cursor;
  const start = cursor.pos;
  const { info, argument } = cursor.head();
  cursor.pos = start;
  const unread = major === PRIMITIVE ? simpleFault(info, argument) : major === TEXT ? text(cursor) : undefined;
  cursor.pos = start;
  cursor.skip();
  if (unread instanceof Fault) return unread;
  const tooSmall = major === NEGATIVE && argument > MAX_INT64 ? `${-1n - BigInt(argument)} overflows Go's int64` : why;
  return wrongSort(major, goType, tooSmall);
}

/** Reads a tag, and returns whether it says how bytes are to be written. */
export function tagOf(cursor: Cursor): WrittenAs {
  const { argument } = cursor.head();
  return argument === 21 || argument === 22 || argument === 23 ? argument : undefined;
}

/** The tags before an item must fit what they stand before. On a fault the item is passed over. */
export function checkTags(cursor: Cursor): Fault | undefined {
  while (cursor.major === TAG) {
    const start = cursor.pos;
    if (cursor.head().argument !== SELF_DESCRIBED) {
      cursor.pos = start;
      break;
    }
  }
  const start = cursor.pos;
  while (cursor.major === TAG) {
    const { argument } = cursor.head();
    const why = tagFault(argument, cursor.first);
    if (why !== undefined) {
      cursor.skip();
      return refused(why);
    }
  }
  cursor.pos = start;
  return undefined;
}

function tagFault(tag: number | bigint, next: number): string | undefined {
  const sort = SORTS[next >> 5] ?? '';
  if (tag === 0 && next >> 5 !== TEXT) return `tag number 0 must be followed by text string, got ${sort}`;
  const isNumber = next >> 5 <= NEGATIVE || (next >= 0xf9 && next <= 0xfb);
  if (tag !== 1 || isNumber) return undefined;
  return `tag number 1 must be followed by integer or floating-point number, got ${sort}`;
}

function integer(cursor: Cursor): unknown {
  const { major, argument } = cursor.head();
  const value = major === UNSIGNED ? argument : negative(argument);
  if (argument <= MAX_INT64) return value;
  return wrongSort(major, 'int64', `${value} overflows Go's int64`);
}

export const negative = (argument: number | bigint): number | bigint =>
  argument < Number.MAX_SAFE_INTEGER ? -1 - Number(argument) : -1n - BigInt(argument);

function writtenBytes(cursor: Cursor, writtenAs: WrittenAs): string {
  const bytes = Buffer.concat(cursor.chunks());
  switch (writtenAs) {
    case 21:
      return bytes.toString('base64url');
    case 22:
      return bytes.toString('base64');
    case 23:
      return bytes.toString('hex');
    default:
      // Invalid UTF-8 stays as it is in kube-apiserver, which encodes it as it is decoded here.
      return bytes.toString();
  }
}

function text(cursor: Cursor): string | Fault {
  const texts: string[] = [];
  for (const chunk of cursor.chunks()) {
    try {
      texts.push(utf8.decode(chunk));
    } catch {
      return refused('invalid UTF-8 string');
    }
  }
  return texts.join('');
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export function readList(cursor: Cursor, read: () => unknown): unknown[] | Fault {
  const items: unknown[] = [];
  let fault: Fault | undefined;
  cursor.each(() => {
    const item = read();
    if (item instanceof Fault) fault ??= item;
    else items.push(item);
  });
  return fault ?? items;
}

function tagged(cursor: Cursor, writtenAs: WrittenAs): unknown {
  const start = cursor.pos;
  const { argument } = cursor.head();
  if (argument === 0) return writtenTime(cursor);
  if (argument === 1) return secondsSince1970(cursor);
  cursor.pos = start;
  return readTree(cursor, tagOf(cursor) ?? writtenAs);
}

function writtenTime(cursor: Cursor): string | Fault {
  const written = text(cursor);
  if (written instanceof Fault) return written;
  try {
    parseTime(written);
  } catch (error) {
    return refused(`cannot set ${written} for time.Time: ${errorText(error)}`);
  }
  return written;
}

const NO_SUCH_TIME =
  'decoded time cannot be represented in RFC3339 format with sub-second precision: Time.MarshalText: year outside of range [0,9999]';

function secondsSince1970(cursor: Cursor): string | Fault {
  const { major, info, argument } = cursor.head();
  if (major <= NEGATIVE && argument > MAX_INT64) {
    const value = major === UNSIGNED ? argument : -1n - BigInt(argument);
    return wrongSort(major, 'time.Time', `${value} overflows Go's int64`);
  }
  const isFloat = major > NEGATIVE;
  const value = isFloat ? floatOf(info, argument) : Number(major === UNSIGNED ? argument : negative(argument));
  const date = new Date(Math.floor(value) * 1000);
  const year = date.getUTCFullYear();
  if (!(year >= 0 && year <= 9999)) return refused(NO_SUCH_TIME);
  const nanoseconds = String(Math.floor((value - Math.floor(value)) * 1e9)).padStart(9, '0');
  const seconds = date.toISOString().slice(0, -'.000Z'.length);
  return `${seconds}${trimEnd(trimEnd(`.${nanoseconds}`, '0'), '.')}Z`;
}

function primitive(cursor: Cursor): unknown {
  const { first } = cursor;
  const { info, argument } = cursor.head();
  if (info > 24) {
    const value = floatOf(info, argument);
    return new FloatLiteral(value, String(value));
  }
  const fault = simpleFault(info, argument);
  if (fault !== undefined) return fault;
  return first === NULL ? null : first === TRUE;
}

/** Nothing but the truth values and null is accepted. */
function simpleFault(info: number, argument: number | bigint): Fault | undefined {
  const isKnown = info > 24 || (info + 0xe0 >= FALSE && info + 0xe0 <= NULL);
  if (isKnown) return undefined;
  return refused(
    `data item of cbor type primitives is not accepted by protocol: simple value ${argument} is not recognized`,
  );
}
