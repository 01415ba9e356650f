// `Warning` headers: each text once, and a bound on their size, since clients and proxies cap a response's headers.
import type { Warning } from './exchange.js';

const MAX_TOTAL_CHARACTERS = 4 * 1024;
const MAX_TRUNCATED_CHARACTERS = 256;

/** The header's values; once the texts are too long together, each is cut short and then later ones are dropped. */
export function warningHeaders(warnings: readonly Warning[]): readonly string[] {
  const unique = new Map<string, Warning>();
  for (const warning of warnings) {
    if (warning.text !== '' && !unique.has(warning.text)) unique.set(warning.text, warning);
  }
  const list = [...unique.values()];
  const total = list.reduce((sum, { text }) => sum + characterCount(text), 0);
  const truncating = total > MAX_TOTAL_CHARACTERS;
  const values: string[] = [];
  let written = 0;
  for (const { agent, text } of list) {
    if (truncating && written >= MAX_TOTAL_CHARACTERS) break;
    const shown = truncating ? Array.from(text).slice(0, MAX_TRUNCATED_CHARACTERS).join('') : text;
    const value = warningHeader(agent, shown);
    if (value === undefined) continue;
    values.push(value);
    written += characterCount(shown);
  }
  return values;
}

const characterCount = (text: string): number => (text.length <= 64 ? text.length : Array.from(text).length);

/** `undefined` for what cannot stand in a header. */
function warningHeader(agent: string, text: string): string | undefined {
  if (/[\\"\s\p{Cc}]/u.test(agent) || /\p{Cc}/u.test(text)) return undefined;
  return `299 ${agent === '' ? '-' : agent} "${utf8InHeader(text.replace(/["\\]/g, '\\$&'))}"`;
}

/** Node writes header characters as single bytes; the text travels as UTF-8. */
const utf8InHeader = (text: string): string =>
  /[^\x20-\x7e]/.test(text) ? Buffer.from(text, 'utf8').toString('latin1') : text;
