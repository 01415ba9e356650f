const TOKEN = "!#$&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz";

/** A key as part of a header's name: what no name may have is written by its bytes, and so is the sign that says so. */
export const escapedHeaderKey = (key: string): string =>
  Array.from(Buffer.from(key.toLowerCase(), 'utf8'), (byte) => {
    const char = String.fromCharCode(byte);
    return TOKEN.includes(char) ? char : `%${byte.toString(16).padStart(2, '0')}`;
  }).join('');
