/** Compact JSON with two spaces of indentation, members in their order. */
export const indentJson = (text: string): string => indenter()(text);

/** Indents piece by piece. A piece ends where no name, string or number does, and not within what is empty. */
export function indenter(): (piece: string) => string {
  let depth = 0;
  return (piece) => {
    const { out, depth: after } = indented(piece, depth);
    depth = after;
    return out;
  };
}

function indented(text: string, startDepth: number): { readonly out: string; readonly depth: number } {
  let out = '';
  let depth = startDepth;
  let from = 0;
  const flush = (to: number): void => {
    out += text.slice(from, to);
    from = to;
  };
  const line = (): void => {
    out += `\n${'  '.repeat(depth)}`;
  };
  for (let i = 0; i < text.length; i++) {
    switch (text[i]) {
      case '"':
        i = endOfString(text, i);
        break;
      case '{':
      case '[':
        flush(i + 1);
        if (text[i + 1] === '}' || text[i + 1] === ']') flush(++i + 1);
        else {
          depth++;
          line();
        }
        break;
      case '}':
      case ']':
        flush(i);
        depth--;
        line();
        flush(i + 1);
        break;
      case ',':
        flush(i + 1);
        line();
        break;
      case ':':
        flush(i + 1);
        out += ' ';
        break;
    }
  }
  flush(text.length);
  return { out, depth };
}

function endOfString(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    if (text[i] === '\\') i++;
    else if (text[i] === '"') return i;
  }
  return text.length;
}
