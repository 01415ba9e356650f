/** What Go escapes with a backslash and one character. */
export const GO_ESCAPES: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
};
// Letters, marks, numbers, punctuation, symbols and the plain space stay as they are; all else is escaped.
const UNPRINTABLE = /["\\]|[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu;

/** A string in double quotes with the escapes Go's %q uses. */
export function goQuote(text: string): string {
  return `"${text.replace(UNPRINTABLE, escape)}"`;
}

function escape(char: string): string {
  const short = GO_ESCAPES[char];
  if (short !== undefined) return short;
  const code = char.codePointAt(0) ?? 0;
  if (code < 0x80) return `\\x${code.toString(16).padStart(2, '0')}`;
  if (code < 0x10000) return `\\u${code.toString(16).padStart(4, '0')}`;
  return `\\U${code.toString(16).padStart(8, '0')}`;
}
