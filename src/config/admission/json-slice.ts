/**
 * The text of one value in a JSON text, as it was written: errors show it so. Undefined where there is no such value.
 * The text must be valid JSON.
 */
export function jsonSlice(text: string, path: readonly (string | number)[]): string | undefined {
  let at = skipSpace(text, 0);
  for (const step of path) {
    const found = typeof step === 'number' ? elementAt(text, at, step) : memberAt(text, at, step);
    if (found === undefined) return undefined;
    at = found;
  }
  return text.slice(at, endOf(text, at));
}

function memberAt(text: string, start: number, name: string): number | undefined {
  if (text[start] !== '{') return undefined;
  let found: number | undefined;
  for (let at = skipSpace(text, start + 1); text[at] !== '}' && at < text.length;) {
    const end = endOf(text, at);
    const value = skipSpace(text, skipSpace(text, end) + 1);
    // Of several with one name the last counts.
    if (JSON.parse(text.slice(at, end)) === name) found = value;
    at = afterValue(text, value);
  }
  return found;
}

function elementAt(text: string, start: number, index: number): number | undefined {
  if (text[start] !== '[') return undefined;
  let at = skipSpace(text, start + 1);
  for (let i = 0; text[at] !== ']' && at < text.length; i++) {
    if (i === index) return at;
    at = afterValue(text, at);
  }
  return undefined;
}

/** Where the next value or the end of the list or object stands. */
function afterValue(text: string, start: number): number {
  const at = skipSpace(text, endOf(text, start));
  return text[at] === ',' ? skipSpace(text, at + 1) : at;
}

/** Just behind the value that starts here. */
function endOf(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const character = text[at] ?? '';
    if (character === '"') {
      for (at++; at < text.length && text[at] !== '"'; at++) if (text[at] === '\\') at++;
    } else if (character === '{' || character === '[') depth++;
    else if (character === '}' || character === ']') {
      if (depth === 0) return at;
      depth--;
    } else if (depth > 0) continue;
    else if (character === ',' || character === ':' || isSpace(character)) return at;
    else continue;
    if (depth === 0) return at + 1;
  }
  return text.length;
}

function skipSpace(text: string, start: number): number {
  let at = start;
  while (at < text.length && isSpace(text[at] ?? '')) at++;
  return at;
}

const isSpace = (character: string): boolean =>
  character === ' ' || character === '\n' || character === '\t' || character === '\r';
