import { certificateFault } from './certificate.js';
import { decodePem } from './pem.js';

/** Why nobody can be believed by these authorities, as kube-apiserver's clients say it. One that is good is enough. */
export function authorityError(pem: string): string | undefined {
  const blocks = decodePem(pem);
  if (blocks.length === 0) return 'unable to parse bytes as PEM block';
  const reasons = blocks
    .filter(({ type, hasHeaders }) => type === 'CERTIFICATE' && !hasHeaders)
    .map(({ bytes }) => certificateFault(bytes));
  if (reasons.includes(undefined)) return undefined;
  return reasons.length === 0
    ? 'no valid certificate authority data seen'
    : `failed to parse certificate: ${reasons[0]}`;
}
