// The value of a string or bytes literal.

/** A literal that the grammar allows but that has no value; the message is kube-apiserver's. */
export class LiteralMistake extends Error {}

export function unescapeString(literal: string): string {
  const { body, raw } = unwrap(literal);
  if (raw || !body.includes('\\')) return body;
  let value = '';
  eachPart(body, {
    text: (part) => (value += part),
    codePoint: (code) => {
      if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) throw new LiteralMistake('invalid unicode code point');
      value += String.fromCodePoint(code);
    },
    unicodeAllowed: true,
  });
  return value;
}

/** The literal without its leading b. */
export function unescapeBytes(literal: string): Uint8Array {
  const { body, raw } = unwrap(literal);
  if (raw || !body.includes('\\')) return Buffer.from(body, 'utf8');
  const parts: Buffer[] = [];
  eachPart(body, {
    text: (part) => parts.push(Buffer.from(part, 'utf8')),
    codePoint: (code) => parts.push(Buffer.from([code & 0xff])),
    unicodeAllowed: false,
  });
  return new Uint8Array(Buffer.concat(parts));
}

function unwrap(literal: string): { body: string; raw: boolean } {
  const plain = literal.replaceAll('\r\n', '\n').replaceAll('\r', '\n');
  const raw = /^[rR]/.test(plain);
  const quoted = raw ? plain.slice(1) : plain;
  const quotes = /^(?:'''|""")/.test(quoted) && quoted.length >= 6 ? 3 : 1;
  return { body: quoted.slice(quotes, -quotes), raw };
}

const SIMPLE: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  "'": "'",
  '"': '"',
  '`': '`',
  '?': '?',
};
const DIGITS: Readonly<Record<string, number>> = { x: 2, X: 2, u: 4, U: 8 };

interface Parts {
  readonly text: (part: string) => void;
  readonly codePoint: (code: number) => void;
  readonly unicodeAllowed: boolean;
}

function eachPart(body: string, { text, codePoint, unicodeAllowed }: Parts): void {
  let at = 0;
  while (at < body.length) {
    const slash = body.indexOf('\\', at);
    if (slash < 0) return text(body.slice(at));
    if (slash > at) text(body.slice(at, slash));
    const letter = body[slash + 1] ?? '';
    const simple = SIMPLE[letter];
    const digits = DIGITS[letter];
    if (simple !== undefined) {
      text(simple);
      at = slash + 2;
    } else if (digits !== undefined) {
      const hex = body.slice(slash + 2, slash + 2 + digits);
      if (hex.length < digits || !/^[0-9a-fA-F]+$/.test(hex) || (digits > 2 && !unicodeAllowed)) {
        throw new LiteralMistake('unable to unescape string');
      }
      codePoint(Number.parseInt(hex, 16));
      at = slash + 2 + digits;
    } else if (/^[0-3]$/.test(letter)) {
      codePoint(Number.parseInt(body.slice(slash + 1, slash + 4), 8));
      at = slash + 4;
    } else {
      throw new LiteralMistake('unable to unescape string');
    }
  }
}
