import { keyPairError } from '../../../lib/x509/key-pair-error.js';
import type { Secret } from '../../../schema/generated/core.v1.js';

/** A TLS secret whose key does not fit its certificate may be half of a rotation: it is stored, with a warning. */
export function tlsWarnings(object: Readonly<Secret>): string[] {
  if (object.type !== 'kubernetes.io/tls') return [];
  const decode = (key: string): string => Buffer.from(object.data?.[key] ?? '', 'base64').toString('latin1');
  const why = keyPairError(decode('tls.crt'), decode('tls.key'));
  return why === undefined ? [] : [why];
}
