// `Warning` headers: each text once, and a bound on their size, since clients and proxies cap a response's headers.
import type { Warning } from './exchange.js';

const MAX_TOTAL_CHARACTERS = 4 * 1024;
const MAX_TRUNCATED_CHARACTERS = 256;

/** The header's values; once the texts are too long together, each is cut short and then later ones are dropped. */
export function warningHeaders(warnings: readonly Warning[]): readonly string[] {
  const truncating = areTooLong(warnings);
  const values: string[] = [];
  let written = 0;
  for (const { agent, text } of once(warnings)) {
    if (truncating && written >= MAX_TOTAL_CHARACTERS) break;
    const shown = truncating ? firstCharacters(text, MAX_TRUNCATED_CHARACTERS) : text;
    const value = warningHeader(agent, shown);
    if (value === undefined) continue;
    values.push(value);
    written += characterCount(shown);
  }
  return values;
}

/** A large object may have a hundred thousand: no more of them are read than the answer needs. */
function areTooLong(warnings: readonly Warning[]): boolean {
  let total = 0;
  for (const { text } of once(warnings)) {
    total += characterCount(firstCharacters(text, MAX_TOTAL_CHARACTERS + 1));
    if (total > MAX_TOTAL_CHARACTERS) return true;
  }
  return false;
}

function* once(warnings: readonly Warning[]): Generator<Warning> {
  const seen = new Set(['']);
  for (const warning of warnings) {
    if (seen.has(warning.text)) continue;
    seen.add(warning.text);
    yield warning;
  }
}

/** A character has one or two units. */
const firstCharacters = (text: string, count: number): string =>
  text.length <= count
    ? text
    : Array.from(text.slice(0, 2 * count))
        .slice(0, count)
        .join('');

const characterCount = (text: string): number => (text.length <= 64 ? text.length : Array.from(text).length);

/** `undefined` for what cannot stand in a header. */
function warningHeader(agent: string, text: string): string | undefined {
  if (/[\\"\s\p{Cc}]/u.test(agent) || /\p{Cc}/u.test(text)) return undefined;
  return `299 ${agent === '' ? '-' : agent} "${utf8InHeader(text.replace(/["\\]/g, '\\$&'))}"`;
}

/** Node writes header characters as single bytes; the text travels as UTF-8. */
const utf8InHeader = (text: string): string =>
  /[^\x20-\x7e]/.test(text) ? Buffer.from(text, 'utf8').toString('latin1') : text;
