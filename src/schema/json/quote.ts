// hot: a string as Go's JSON encoder prints it, safe to embed in HTML.

export function quoteJson(text: string): string {
  return plainText.test(text) ? `"${text}"` : quoteSlowly(text);
}

// All but control characters, `"`, `\`, `<`, `>`, `&`, the two line separators, and surrogates (which may stand alone).
const plainText = /^[ !#-%'-;=?-[\]-\u2027\u202a-\ud7ff\ue000-\uffff]*$/;

function quoteSlowly(text: string): string {
  return `"${text.replace(loneSurrogate, '\ufffd').replace(unsafe, (char) => escapes.get(char) ?? hexEscape(char))}"`;
}

const loneSurrogate = /\p{Cs}/gu;
// oxlint-disable-next-line no-control-regex
const unsafe = /[\u0000-\u001f"\\<>&\u2028\u2029]/g;

const escapes = new Map([
  ['"', '\\"'],
  ['\\', '\\\\'],
  ['\b', '\\b'],
  ['\f', '\\f'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
]);

const hexEscape = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
