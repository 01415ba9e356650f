// Keys inside the embedded store have a character for each byte: they sort as their bytes do, and no bytes are lost. The
// key-value contract's keys are texts, and are encoded as UTF-8; most are ASCII, and the same in both.

export const byteKeyOf = (text: string): string =>
  BEYOND_ASCII.test(text) ? Buffer.from(text).toString('latin1') : text;

/** Bytes that are not UTF-8 are shown as U+FFFD. */
export const textOf = (byteKey: string): string =>
  BEYOND_ASCII.test(byteKey) ? Buffer.from(byteKey, 'latin1').toString() : byteKey;

/** As the engine has it. */
export const nameOf = (byteKey: string): Buffer => Buffer.from(byteKey, 'latin1');

export const byteKeyIn = (name: Buffer): string => name.toString('latin1');

const BEYOND_ASCII = /[\u0080-\uffff]/;

/** The first byte key after all that start with the prefix; undefined where there is none. */
export function bytePrefixEnd(prefix: string): string | undefined {
  for (let last = prefix.length - 1; last >= 0; last--) {
    const byte = prefix.charCodeAt(last);
    if (byte < 0xff) return prefix.slice(0, last) + String.fromCharCode(byte + 1);
  }
  return undefined;
}
