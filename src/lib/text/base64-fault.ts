// Where base64 cannot be read on, as kube-apiserver counts it: the error message has the offset.

export interface Base64Form {
  /** With `-` and `_` for `+` and `/`. */
  readonly url: boolean;
  readonly padded: boolean;
}

/** The byte at which kube-apiserver gives up; undefined for what it reads. Line breaks may stand anywhere. */
export function base64Fault(text: string, { url, padded }: Base64Form): number | undefined {
  const isDigit = url ? /[A-Za-z0-9_-]/ : /[A-Za-z0-9+/]/;
  let held = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at);
    if (isBreak(char)) continue;
    if (isDigit.test(char)) held = (held + 1) % 4;
    else return padded && char === '=' && held >= 2 ? paddingFault(text, at + 1, held) : at;
  }
  return held === 0 || (!padded && held > 1) ? undefined : text.length - held;
}

/** Of the text after the first `=` of a group that holds so many digits. */
function paddingFault(text: string, after: number, held: number): number | undefined {
  let at = pastBreaks(text, after);
  if (held === 2) {
    if (at === text.length) return at;
    if (text.charAt(at) !== '=') return at - 1;
    at = pastBreaks(text, at + 1);
  }
  return at < text.length ? at : undefined;
}

function pastBreaks(text: string, from: number): number {
  let at = from;
  while (at < text.length && isBreak(text.charAt(at))) at++;
  return at;
}

const isBreak = (char: string): boolean => char === '\n' || char === '\r';
