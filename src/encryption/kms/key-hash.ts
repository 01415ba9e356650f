import crypto from 'node:crypto';

/** How logs, errors and metrics name a key id without revealing it. */
export const keyHash = (keyId: string): string =>
  keyId === '' ? '' : `sha256:${crypto.createHash('sha256').update(keyId).digest('hex')}`;
