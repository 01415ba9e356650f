const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** The bytes of a key's secret, undefined when it is not base64; line breaks in it do not count. */
export function decodeSecret(secret: string): Buffer | undefined {
  const packed = secret.replace(/[\r\n]/g, '');
  if (packed.length % 4 !== 0 || !BASE64.test(packed)) return undefined;
  return Buffer.from(packed, 'base64');
}
