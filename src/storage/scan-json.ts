// Finds a member in an object's JSON without parsing the rest. The input is this server's own encoding: no white space, and
// names are never escaped.
//
//   {"kind":"Pod","apiVersion":"v1","metadata":{"name":"a",…},"spec":{…,"nodeName":"n1",…}
//                                                                                 ^ memberAt(json, ['spec', 'nodeName'])

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/**
 * The offset of the value that a path of names leads to from the object at `start`, or -1. The last of the names is looked
 * for as far as a member `before`, which it does not come after.
 */
export function memberAt(json: Buffer, path: readonly string[], start = 0, before = ''): number {
  let at = start;
  for (const [index, name] of path.entries()) {
    at = valueIn(json, at, name, index === path.length - 1 ? before : '');
    if (at < 0) return -1;
  }
  return at;
}

/** Whether the object's metadata has a member of one of these names. */
export function metadataHas(json: Buffer, names: readonly string[]): boolean {
  const metadata = valueIn(json, 0, 'metadata', '');
  if (metadata < 0 || json[metadata] !== OPEN_BRACE) return false;
  let at = metadata + 1;
  while (json[at] === QUOTE) {
    const value = skipString(json, at) + 1;
    for (const name of names) if (isNamed(json, at + 1, value - 2, name)) return true;
    at = skipValue(json, value);
    if (json[at] === COMMA) at++;
  }
  return false;
}

/** The string a path leads to; empty where there is none. */
export function stringAt(json: Buffer, path: readonly string[], start = 0): string {
  const at = memberAt(json, path, start);
  if (at < 0 || json[at] !== QUOTE) return '';
  return JSON.parse(json.toString('utf8', at, skipString(json, at))) as string;
}

/** The text of the value a path leads to, which does not come after a member `before`. */
export function textAt(json: Buffer, path: readonly string[], before = ''): string | undefined {
  const at = memberAt(json, path, 0, before);
  return at < 0 ? undefined : json.toString('utf8', at, skipValue(json, at));
}

/** The offset of a member's value in the object that starts here, or -1. */
function valueIn(json: Buffer, start: number, wanted: string, before: string): number {
  if (json[start] !== OPEN_BRACE) return -1;
  let at = start + 1;
  while (json[at] === QUOTE) {
    const value = skipString(json, at) + 1;
    if (isNamed(json, at + 1, value - 2, wanted)) return value;
    if (before !== '' && isNamed(json, at + 1, value - 2, before)) return -1;
    at = skipValue(json, value);
    if (json[at] === COMMA) at++;
  }
  return -1;
}

function isNamed(json: Buffer, start: number, end: number, wanted: string): boolean {
  if (end - start !== wanted.length) return false;
  for (let i = 0; i < wanted.length; i++) if (json[start + i] !== wanted.charCodeAt(i)) return false;
  return true;
}

/** The offset after a string that starts at a quote. */
// hot: byte by byte, for most strings are shorter than a call takes.
export function skipString(json: Buffer, quote: number): number {
  for (let at = quote + 1; at < json.length; at++) {
    const byte = json[at];
    if (byte === QUOTE) return at + 1;
    if (byte === BACKSLASH) at++;
  }
  throw new Error('the JSON ends inside a string');
}

/** The offset after the value that starts here. */
// hot: every object that is looked into.
export function skipValue(json: Buffer, start: number): number {
  if (json[start] === QUOTE) return skipString(json, start);
  let depth = 0;
  for (let at = start; at < json.length; at++) {
    switch (json[at]) {
      case QUOTE:
        at = skipString(json, at) - 1;
        break;
      case OPEN_BRACE:
      case OPEN_BRACKET:
        depth++;
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        if (depth === 0) return at;
        depth--;
        if (depth === 0) return at + 1;
        break;
      case COMMA:
        if (depth === 0) return at;
        break;
      default:
    }
  }
  throw new Error('the JSON ends inside a value');
}
