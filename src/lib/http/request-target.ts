// A request's path and query, decoded once and in one way, as Go decodes them. Whoever decides
// what a request is and whoever carries it out must read the same words.

/** An escape, or a byte beyond ASCII sent as it is. */
const ENCODED = /[^\x00-\x24\x26-\x7f]/;
const PERCENT = 0x25;
const SEMICOLON = 0x3b;
const LAST_ASCII = 0x7f;

/** The path with its escapes read, byte by byte; undefined when one is malformed. `+` stays. */
export function decodePath(path: string): string | undefined {
  if (!ENCODED.test(path)) return path;
  const bytes = Buffer.from(path, 'latin1');
  let length = 0;
  for (let at = 0; at < bytes.length; at++) {
    let byte = bytes[at] as number;
    if (byte === PERCENT) {
      byte = escapedByte(path, at);
      if (byte < 0) return undefined;
      at += 2;
    }
    bytes[length++] = byte;
  }
  return bytes.toString('utf8', 0, length);
}

/** A query of more pairs counts as none at all. */
const MAX_PAIRS = 10_000;

/**
 * Pairs that have a `;` or a malformed escape are as if they had not been sent. `+` is a space. A byte beyond ASCII that
 * was sent as it is means what its escape means.
 */
export function parseQuery(search: string): URLSearchParams {
  if (isPlain(search)) return new URLSearchParams(search);
  const all = search.split('&');
  if (all.length > MAX_PAIRS) return new URLSearchParams();
  const pairs = all.filter(isWellFormed);
  // URLSearchParams strips a leading `?`, but here it belongs to the first name.
  return new URLSearchParams(`&${pairs.join('&').replace(BEYOND_ASCII, escaped)}`);
}

const BEYOND_ASCII = /[^\x00-\x7f]/g;
const escaped = (byte: string): string => `%${byte.charCodeAt(0).toString(16)}`;

// hot: on every request with a query.
function isPlain(search: string): boolean {
  if (search.length > MAX_PAIRS) return false;
  for (let i = 0; i < search.length; i++) {
    const code = search.charCodeAt(i);
    if (code === PERCENT || code === SEMICOLON || code > LAST_ASCII) return false;
  }
  return !search.startsWith('?');
}

function isWellFormed(pair: string): boolean {
  if (pair.includes(';')) return false;
  for (let at = pair.indexOf('%'); at >= 0; at = pair.indexOf('%', at + 3)) {
    if (escapedByte(pair, at) < 0) return false;
  }
  return true;
}

/** The byte that the escape at `at` stands for; negative when it is none. */
function escapedByte(text: string, at: number): number {
  const high = hexDigit(text.charCodeAt(at + 1));
  const low = hexDigit(text.charCodeAt(at + 2));
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

/** Negative when the character is none; also beyond the end, where the code is not a number. */
function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}
