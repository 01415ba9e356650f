// Headers are bytes. The wire hands each byte on as one letter; where a value is a name that is compared with others,
// or printed, its bytes are UTF-8.

/** What the bytes of a header's value say. Bytes that say nothing in UTF-8 become U+FFFD. */
// hot: nearly all are plain ASCII, and stay the text they are.
export const headerText = (value: string): string =>
  BEYOND_ASCII.test(value) ? Buffer.from(value, 'latin1').toString('utf8') : value;

/** A text as the wire takes it, a letter for each of its bytes. */
export const headerBytes = (text: string): string =>
  BEYOND_ASCII.test(text) ? Buffer.from(text, 'utf8').toString('latin1') : text;

const BEYOND_ASCII = /[^\0-\x7f]/;
