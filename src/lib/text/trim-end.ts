/** Without the run of one character at its end: `0+$` as an expression looks at each run of zeros from each of its zeros. */
export function trimEnd(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end--;
  return text.slice(0, end);
}
