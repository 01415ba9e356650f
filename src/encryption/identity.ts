// No encryption: values as they are, unless they were encrypted by something else.
import { isEncrypted, type Encrypter, UNEXPECTEDLY_ENCRYPTED } from './transformer.js';

export const identity: Encrypter = {
  encrypt: (plain) => [plain],
  decrypt(value) {
    if (isEncrypted(value)) throw new Error(UNEXPECTEDLY_ENCRYPTED);
    return { plain: value, stale: false };
  },
};
