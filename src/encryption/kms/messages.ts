// The messages of both KMS protocols, and the one that KMS v2 stores.
import { bytes, int, many, message, text } from '../../lib/protobuf/message.js';

export const V1_VERSION = message({ version: text(1) });
/** Of encrypting and of decrypting. */
export const V1_REQUEST = message({ version: text(1), content: bytes(2) });
export const V1_RESPONSE = message({ content: bytes(1) });

const ANNOTATION = message({ key: text(1), value: bytes(2) });

export const STATUS_REQUEST = message({});
export const STATUS_RESPONSE = message({ version: text(1), healthz: text(2), keyId: text(3) });
export const ENCRYPT_REQUEST = message({ plaintext: bytes(1), uid: text(2) });
export const ENCRYPT_RESPONSE = message({ ciphertext: bytes(1), keyId: text(2), annotations: many(3, ANNOTATION) });
export const DECRYPT_REQUEST = message({
  ciphertext: bytes(1),
  uid: text(2),
  keyId: text(3),
  annotations: many(4, ANNOTATION),
});
export const DECRYPT_RESPONSE = message({ plaintext: bytes(1) });

/** What KMS v2 stores: the encrypted data, and all that is needed to have its key unwrapped. */
export const ENCRYPTED_OBJECT = message({
  data: bytes(1),
  keyId: text(2),
  /** The wrapped seed. */
  source: bytes(3),
  annotations: many(4, ANNOTATION),
  /** What the seed is for. */
  sourceType: int(5),
});
