// Headers are bytes. The wire hands each byte on as one character; where a value is a name that is compared or logged,
// its bytes are UTF-8.

/** What the bytes of a header's value say. Bytes that say nothing in UTF-8 become U+FFFD. */
// hot: nearly all are plain ASCII, and stay the text they are.
export const headerText = (value: string): string =>
  BEYOND_ASCII.test(value) ? Buffer.from(value, 'latin1').toString('utf8') : value;

/** A text as the wire expects it, one character for each UTF-8 byte. */
export const headerBytes = (text: string): string =>
  BEYOND_ASCII.test(text) ? Buffer.from(text, 'utf8').toString('latin1') : text;

const BEYOND_ASCII = /[^\0-\x7f]/;

/** Without the spaces and tabs around it. Nothing else is a space in a header: `trim` would remove bytes that count. */
// hot: for each header of HTTP/1.1.
export function trimSpaces(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isSpace(text.charCodeAt(start))) start++;
  while (end > start && isSpace(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

const isSpace = (code: number): boolean => code === 0x20 || code === 0x09;
