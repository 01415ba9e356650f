// The external signer's messages.
import { createPublicKey } from 'node:crypto';
import { errorText } from '../../lib/text/error-text.js';
import { goQuote } from '../../lib/go/quote.js';
import { asBytes, asNumber, asText, ProtoWriter, readFields } from '../../lib/protobuf/wire.js';
import { algorithmOf, type VerifyingKey } from './keys.js';

export const EMPTY_REQUEST = Buffer.alloc(0);

export const encodeSign = (claims: string): Buffer => new ProtoWriter().bytes(1, claims).finish();

export function decodeSigned(bytes: Buffer): { readonly header: string; readonly signature: string } {
  const answer = { header: '', signature: '' };
  readFields(bytes, (field, value) => {
    if (field === 1) answer.header = asText(value);
    if (field === 2) answer.signature = asText(value);
  });
  return answer;
}

export function decodeMetadata(bytes: Buffer): { readonly maxTokenExpirationSeconds: number } {
  let maxTokenExpirationSeconds = 0;
  readFields(bytes, (field, value) => {
    if (field === 1) maxTokenExpirationSeconds = asNumber(value);
  });
  return { maxTokenExpirationSeconds };
}

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
export function decodeKeys(bytes: Buffer): SignerKeys {
  const keys: Buffer[] = [];
  let timestamp: number | undefined;
  let refreshHintSeconds = 0;
  readFields(bytes, (field, value) => {
    if (field === 1) keys.push(asBytes(value));
    if (field === 2) timestamp = secondsOf(asBytes(value));
    if (field === 3) refreshHintSeconds = asNumber(value);
  });
  if (refreshHintSeconds <= 0) throw new Error(`found invalid refresh hint (${refreshHintSeconds}s)`);
  if (keys.length === 0) throw new Error('found no keys');
  if (timestamp === undefined) throw new Error('invalid data timestamp: proto: invalid nil Timestamp');
  return { keys: keys.flatMap(decodeKey), dataTimestampSeconds: timestamp, refreshHintSeconds };
}

function secondsOf(bytes: Buffer): number {
  let seconds = 0;
  let nanos = 0;
  readFields(bytes, (field, value) => {
    if (field === 1) seconds = asNumber(value);
    if (field === 2) nanos = asNumber(value);
  });
  return seconds + nanos / NANOS;
}

function decodeKey(bytes: Buffer): ExternalKey[] {
  let id = '';
  let der = Buffer.alloc(0);
  let unpublished = false;
  readFields(bytes, (field, value) => {
    if (field === 1) id = asText(value);
    if (field === 2) der = Buffer.from(asBytes(value));
    if (field === 3) unpublished = asNumber(value) !== 0;
  });
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
