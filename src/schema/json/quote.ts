// hot: a string as Go's JSON encoder writes it, safe to embed in HTML.

export function quoteJson(text: string): string {
  return plainText.test(text) ? `"${text}"` : quoteSlowly(text);
}

// All but control characters, `"`, `\`, `<`, `>`, `&`, the two line separators, and surrogates (which may stand alone).
const plainText = /^[ !#-%'-;=?-[\]-\u2027\u202a-\ud7ff\ue000-\uffff]*$/;

// The engine's own printer escapes all but what is special in HTML and in scripts as Go does.
function quoteSlowly(text: string): string {
  const quoted = JSON.stringify(text.replace(loneSurrogate, '\ufffd'));
  return unsafe.test(quoted) ? quoted.replace(everyUnsafe, (char) => escapes[char] as string) : quoted;
}

const loneSurrogate = /\p{Cs}/gu;
const unsafe = /[<>&\u2028\u2029]/;
const everyUnsafe = /[<>&\u2028\u2029]/g;

const escapes: Readonly<Record<string, string>> = {
  '<': '\\u003c',
  '>': '\\u003e',
  '&': '\\u0026',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
};
