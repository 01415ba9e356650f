export interface JsonBounds {
  /** How deep lists and maps may stand in each other. */
  readonly depth: number;
  /** How many members all maps may have together. */
  readonly members: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;

/** Whether a JSON text has more than that, checked before a parser spends long on it. */
export function exceeds(text: string, { depth, members }: JsonBounds): boolean {
  let [open, named] = [0, 0];
  let isQuoted = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH) at++;
    else if (code === QUOTE) isQuoted = !isQuoted;
    else if (isQuoted) continue;
    // [ and {, ] and }
    else if ((code | 0x20) === 0x7b) open++;
    else if ((code | 0x20) === 0x7d) open--;
    else if (code === COLON) named++;
    if (open > depth || named > members) return true;
  }
  return false;
}
