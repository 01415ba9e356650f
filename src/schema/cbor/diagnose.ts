// A document in CBOR's diagnostic notation: how kube-apiserver shows one to who sent it. Its form has been checked.
import { ARRAY, BYTES, Cursor, floatOf, INDEFINITE, MAP, NEGATIVE, TAG, TEXT, UNSIGNED } from './cursor.js';
import { negative } from './read-tree.js';

export const diagnose = (document: Buffer): string => itemOf(new Cursor(document));

function itemOf(cursor: Cursor): string {
  const { first, major } = cursor;
  const isIndefinite = (first & 0x1f) === INDEFINITE;
  switch (major) {
    case UNSIGNED:
    case NEGATIVE: {
      const { argument } = cursor.head();
      return String(major === UNSIGNED ? argument : negative(argument));
    }
    case BYTES:
    case TEXT: {
      const chunks = cursor.chunks().map(major === TEXT ? (chunk) => quoted(chunk.toString(), '"') : shownBytes);
      if (!isIndefinite) return chunks.join('');
      if (chunks.length === 0) return major === TEXT ? '""_' : "''_";
      return `(_ ${chunks.join(', ')})`;
    }
    case ARRAY:
      return `[${isIndefinite ? '_ ' : ''}${eachOf(cursor, () => itemOf(cursor))}]`;
    case MAP:
      return `{${isIndefinite ? '_ ' : ''}${eachOf(cursor, () => `${itemOf(cursor)}: ${itemOf(cursor)}`)}}`;
    case TAG:
      return `${cursor.head().argument}(${itemOf(cursor)})`;
    default:
      return primitive(cursor);
  }
}

function eachOf(cursor: Cursor, show: () => string): string {
  const shown: string[] = [];
  cursor.each(() => shown.push(show()));
  return shown.join(', ');
}

function shownBytes(bytes: Buffer): string {
  const text = bytes.toString();
  const isText = bytes.length > 0 && Buffer.from(text).equals(bytes);
  return isText ? quoted(text, "'") : `h'${bytes.toString('hex')}'`;
}

function quoted(text: string, quote: string): string {
  let shown = quote;
  // By UTF-16 units: what is beyond the first plane is shown as two.
  for (let i = 0; i < text.length; i++) {
    const char = text.charAt(i);
    const code = text.charCodeAt(i);
    if (char === quote || ESCAPED[char] !== undefined) shown += `\\${ESCAPED[char] ?? char}`;
    else shown += code >= 0x20 && code <= 0x7e ? char : `\\u${code.toString(16).padStart(4, '0')}`;
  }
  return shown + quote;
}

const ESCAPED: Readonly<Record<string, string>> = { '\t': 't', '\n': 'n', '\r': 'r', '\\': '\\' };

const PRIMITIVES: Readonly<Record<number, string>> = { 20: 'false', 21: 'true', 22: 'null', 23: 'undefined' };

function primitive(cursor: Cursor): string {
  const { info, argument } = cursor.head();
  if (info <= 24) return PRIMITIVES[info] ?? `simple(${argument})`;
  const text = String(floatOf(info, argument));
  if (text.includes('.')) return text;
  const exponent = text.indexOf('e');
  return exponent < 0 ? `${text}.0` : `${text.slice(0, exponent)}.0${text.slice(exponent)}`;
}
