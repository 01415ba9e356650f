const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** The bytes of a key's secret, undefined when it is not base64; line breaks in it do not count. */
export function decodeSecret(secret: string): Buffer | undefined {
  const joined = secret.replace(/[\r\n]/g, '');
  if (joined.length % 4 !== 0 || !BASE64.test(joined)) return undefined;
  return Buffer.from(joined, 'base64');
}
