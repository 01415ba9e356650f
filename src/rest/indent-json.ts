/** Compact JSON with two spaces of indentation, members in their order. */
export function indentJson(text: string): string {
  let out = '';
  let depth = 0;
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
  return out;
}

function endOfString(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    if (text[i] === '\\') i++;
    else if (text[i] === '"') return i;
  }
  return text.length;
}
