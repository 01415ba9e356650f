// What a plain scalar means in kube-apiserver's YAML 1.1. Decoding and encoding must agree on it: a string that would be
// read as something else is encoded in quotes.

/** The value of a plain scalar, or `undefined` when it is a string. */
export function resolvePlain(text: string): null | boolean | number | bigint | undefined {
  if (nulls.has(text)) return null;
  return truths.get(text) ?? readInteger(text.replaceAll('_', '')) ?? readFloat(text.replaceAll('_', ''));
}

/** Whether the text, encoded plain, would be read back as this very string. */
export function isPlainString(text: string): boolean {
  // hot: no number and no time begins with a letter.
  if (isAsciiLetter(text.charCodeAt(0))) return !nulls.has(text) && !truths.has(text);
  if (text === '<<' || resolvePlain(text) !== undefined) return false;
  return !special.test(text) && !base60.test(text) && !timestamp.test(text);
}

const isAsciiLetter = (code: number): boolean => (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a);

const nulls = new Set(['', '~', 'null', 'Null', 'NULL']);

const truths = new Map<string, boolean>();
for (const [value, words] of [
  [true, ['y', 'yes', 'true', 'on']],
  [false, ['n', 'no', 'false', 'off']],
] as const) {
  for (const word of words) {
    for (const form of [word, word.toUpperCase(), word.charAt(0).toUpperCase() + word.slice(1)])
      truths.set(form, value);
  }
}

const special = /^([-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))$/;
const base60 = /^[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?$/;
const timestamp = /^\d{4}-\d{1,2}-\d{1,2}([Tt ]\d{1,2}:\d{1,2}:\d{1,2}(\.\d+)?\s*(Z|[-+]\d{1,2}:\d{2})?)?$/;

/** A number that has more, in base 2 with its prefix and zeros, exceeds 64 bits; many are slow to parse. */
const MAX_DIGITS = 4096;

/** As Go's ParseInt with base 0: prefixes 0x, 0b, 0o and a leading zero for octal. */
function readInteger(text: string): number | bigint | undefined {
  const match = /^([-+]?)(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9][0-9]*)$/.exec(text);
  if (match === null) return undefined;
  const [, sign = '', digits = ''] = match;
  if (digits.length > MAX_DIGITS) return undefined;
  const magnitude = /^0[0-7]/.test(digits) ? BigInt(`0o${digits.slice(1)}`) : BigInt(digits);
  const value = sign === '-' ? -magnitude : magnitude;
  if (value < -(2n ** 63n) || value >= 2n ** 64n) return undefined;
  const small = Number(value);
  if (Number.isSafeInteger(small)) return small;
  // Between the largest signed and unsigned number JSON yields a float.
  return value < 2n ** 63n ? value : small;
}

function readFloat(text: string): number | undefined {
  if (/^[-+]?\.(inf|Inf|INF)$/.test(text)) return text.startsWith('-') ? -Infinity : Infinity;
  if (/^\.(nan|NaN|NAN)$/.test(text)) return Number.NaN;
  if (!/^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$/.test(text)) return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? value : undefined;
}
