// The external signer's messages.
import { createPublicKey } from 'node:crypto';
import { errorText } from '../../lib/text/error-text.js';
import { goQuote } from '../../lib/go/quote.js';
import { bytes, type Decoded, flag, int, many, message, one, text } from '../../lib/protobuf/message.js';
import { algorithmOf, type VerifyingKey } from './keys.js';

/** The requests for keys and for metadata. */
export const EMPTY_REQUEST = Buffer.alloc(0);

export const SIGN_REQUEST = message({ claims: text(1) });
export const SIGN_RESPONSE = message({ header: text(1), signature: text(2) });
export const METADATA_RESPONSE = message({ maxTokenExpirationSeconds: int(1) });

const TIMESTAMP = message({ seconds: int(1), nanos: int(2) });
const KEY = message({ id: text(1), der: bytes(2), unpublished: flag(3) });
export const KEYS_RESPONSE = message({
  keys: many(1, KEY),
  dataTimestamp: one(2, TIMESTAMP),
  refreshHintSeconds: int(3),
});

export interface SignerKeys {
  readonly keys: readonly ExternalKey[];
  readonly dataTimestampSeconds: number;
  readonly refreshHintSeconds: number;
}

export interface ExternalKey extends VerifyingKey {
  /** Tokens of old may be verified with it, but it is not published and nothing new is signed with it. */
  readonly unpublished: boolean;
}

const MAX_KEY_ID_LENGTH = 1024;
const NANOS = 1e9;

/** Throws when the signer's answer cannot be used. */
export function decodeKeys(answer: Buffer): SignerKeys {
  const { keys, dataTimestamp, refreshHintSeconds } = KEYS_RESPONSE.decode(answer);
  if (refreshHintSeconds <= 0) throw new Error(`found invalid refresh hint (${refreshHintSeconds}s)`);
  if (keys.length === 0) throw new Error('found no keys');
  if (dataTimestamp === undefined) throw new Error('invalid data timestamp: proto: invalid nil Timestamp');
  const dataTimestampSeconds = dataTimestamp.seconds + dataTimestamp.nanos / NANOS;
  return { keys: keys.flatMap(readKey), dataTimestampSeconds, refreshHintSeconds };
}

function readKey({ id, der, unpublished }: Decoded<typeof KEY>): ExternalKey[] {
  if (id === '' || Buffer.byteLength(id) > MAX_KEY_ID_LENGTH)
    throw new Error(`found invalid public key id ${goQuote(id)}`);
  if (der.length === 0) throw new Error('found empty public key');
  try {
    const key = createPublicKey({ key: der, format: 'der', type: 'spki' });
    const algorithm = algorithmOf(key);
    // A key of another sort verifies nothing here.
    return algorithm === undefined ? [] : [{ id, key, algorithm, unpublished }];
  } catch (error) {
    throw new Error(`while parsing external public keys: ${errorText(error)}`, { cause: error });
  }
}
