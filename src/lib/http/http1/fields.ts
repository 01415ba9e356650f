// The headers of a message, whichever way it goes.
import { trimSpaces } from '../header-text.js';
import { boundedMemo } from '../../values/bounded-memo.js';

export interface Fields {
  /** Names in lower case; one sent several times is joined with ", ". */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Names and values alternating, as sent. */
  readonly rawHeaders: readonly string[];
}

/** A line that is no header, and what is wrong with it. */
export interface BadField {
  readonly wrong: 'colon' | 'name' | 'value';
  readonly line: string;
}

export const isBadField = (read: Fields | BadField): read is BadField => 'wrong' in read;

export const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const NOT_IN_VALUES = /[\x00-\x08\x0a-\x1f\x7f]/;

/** `lines`: those of a head, the first of which is no header. */
// hot: once for each message.
export function parseFields(lines: readonly string[]): Fields | BadField {
  // Names are the sender's: none of them must reach a prototype.
  const headers = Object.create(null) as Record<string, string | undefined>;
  const rawHeaders: string[] = [];
  for (let i = 1; i < lines.length; i++) {
    const line = lines[i] as string;
    const colon = line.indexOf(':');
    if (colon < 0) return { wrong: 'colon', line };
    const name = line.slice(0, colon);
    const lower = fieldName(name);
    if (lower === '') return { wrong: 'name', line };
    const value = trimSpaces(line.slice(colon + 1));
    if (!isFieldValue(value)) return { wrong: 'value', line };
    rawHeaders.push(name, value);
    addField(headers, lower, value);
  }
  return { headers, rawHeaders };
}

export const isFieldValue = (value: string): boolean => !NOT_IN_VALUES.test(value);

/** Beside what was sent under the same name before. `name` is in lower case. */
export function addField(headers: Record<string, string | undefined>, name: string, value: string): void {
  const earlier = headers[name];
  if (earlier === undefined) headers[name] = value;
  else if (name === 'content-length' && earlier === value) return;
  else if (name === 'cookie') headers[name] = `${earlier}; ${value}`;
  else if (!ONLY_ONE.has(name)) headers[name] = `${earlier}, ${value}`;
}

const MAX_NAMES = 1000;
/** In lower case; empty when it is no name. */
const fieldName = boundedMemo(MAX_NAMES, (name: string) => (TOKEN.test(name) ? name.toLowerCase() : ''));

/** Header fields of which the first value counts. */
const ONLY_ONE: ReadonlySet<string> = new Set([
  'authorization',
  'content-type',
  'host',
  'location',
  'retry-after',
  'user-agent',
]);

/** Bytes of a body; undefined when the text says something else, which is also what two different lengths do. */
export const parseContentLength = (text: string): number | undefined =>
  /^\d{1,15}$/.test(text) ? Number(text) : undefined;

/** `list`: words with commas between, in lower case. */
export const hasWord = (list: string, word: string): boolean =>
  list === word || (list !== '' && list.split(',').some((one) => trimSpaces(one) === word));
