// KMS v1: each value has a key of its own, wrapped by the service and stored before it with its length.
//
//   length (2 bytes)  wrapped key  nonce  ciphertext  tag
import { LRUCache } from 'lru-cache';
import { aggregateText } from '../../machinery/field-error.js';
import { errorText } from '../../lib/text/error-text.js';
import type { MaybePromise } from '../../lib/async/maybe-promise.js';
import { decryptCbc } from '../aes-cbc.js';
import { decryptGcm, encryptGcm } from '../aes-gcm.js';
import type { Direction, KmsPluginMetrics } from '../metrics.js';
import type { RandomBytes } from '../random.js';
import type { Decrypted, Place, EncryptedParts, Encrypter } from '../transformer.js';
import type { KmsPluginV1 } from './kms-plugin-v1.js';

export interface EncrypterV1Options {
  readonly service: KmsPluginV1;
  /** How many unwrapped keys are kept; negative for none. */
  readonly cacheSize: number;
  readonly random: RandomBytes;
  readonly metrics: KmsPluginMetrics;
}

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const LENGTH_BYTES = 2;
const MAX_WRAPPED_BYTES = 0xffff;
const KEY_SIZES = [16, 24, 32];

export class EncrypterV1 implements Encrypter {
  /** The cache of keys decides whether the plugin is called. */
  readonly decryptsEachRead = true;
  readonly #known: LRUCache<string, Buffer> | undefined;
  readonly #lastMs = new Map<Direction, number>();

  constructor(readonly options: EncrypterV1Options) {
    this.#known = options.cacheSize > 0 ? new LRUCache({ max: options.cacheSize }) : undefined;
  }

  async encrypt(plain: Buffer, place: Place): Promise<EncryptedParts> {
    const { service, random, metrics } = this.options;
    this.#arrived('to_storage');
    const beganMs = performance.now();
    const key = random(KEY_BYTES);
    metrics.keyMade((performance.now() - beganMs) / 1000);
    const wrapped = await service.encrypt(key);
    if (wrapped.length > MAX_WRAPPED_BYTES) {
      throw new Error(`cryptobyte: pending child length ${wrapped.length} exceeds 2-byte length prefix`);
    }
    this.#keep(wrapped, key);
    const length = Buffer.alloc(LENGTH_BYTES);
    length.writeUInt16BE(wrapped.length);
    return [length, wrapped, ...encryptGcm(key, random(NONCE_BYTES), plain, place.key)];
  }

  decrypt(encrypted: Buffer, place: Place): MaybePromise<Decrypted> {
    this.#arrived('from_storage');
    const end = encrypted.length < LENGTH_BYTES ? Infinity : LENGTH_BYTES + encrypted.readUInt16BE(0);
    if (end > encrypted.length) {
      throw new Error('invalid data encountered by envelope transformer: failed to read uint16 length prefixed data');
    }
    const wrapped = encrypted.subarray(LENGTH_BYTES, end);
    const data = encrypted.subarray(end);
    const known = this.#known?.get(wrapped.toString('latin1'));
    if (known !== undefined) return decryptData(known, data, place);
    return this.#unwrap(wrapped).then((key) => decryptData(key, data, place));
  }

  async #unwrap(wrapped: Buffer): Promise<Buffer> {
    const { service, metrics } = this.options;
    if (this.#known !== undefined) metrics.unwrapped();
    const key = await service.decrypt(wrapped);
    if (!KEY_SIZES.includes(key.length)) throw new Error(`crypto/aes: invalid key size ${key.length}`);
    this.#keep(wrapped, key);
    return key;
  }

  #keep(wrapped: Buffer, key: Buffer): void {
    if (this.#known === undefined) return;
    this.#known.set(wrapped.toString('latin1'), key);
    this.options.metrics.dataKeysKept(this.#known.size / this.options.cacheSize);
  }

  #arrived(direction: Direction): void {
    const now = performance.now();
    this.options.metrics.arrived(direction, (now - (this.#lastMs.get(direction) ?? now)) / 1000);
    this.#lastMs.set(direction, now);
  }
}

/** Long ago AES-CBC was written, which is still read, and moved by the next write. */
function decryptData(key: Buffer, data: Buffer, place: Place): Decrypted {
  const errors: string[] = [];
  try {
    return { plain: decryptGcm(key, data, place.key), stale: false };
  } catch (error) {
    errors.push(errorText(error));
  }
  try {
    return { plain: decryptCbc(key, data), stale: true, unproven: true };
  } catch (error) {
    errors.push(errorText(error));
  }
  throw new Error(aggregateText(errors));
}
