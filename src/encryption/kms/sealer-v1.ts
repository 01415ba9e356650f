// KMS v1: each value has a key of its own, wrapped by the service and stored before it with its length.
//
//   length (2 bytes)  wrapped key  nonce  ciphertext  tag
import { LRUCache } from 'lru-cache';
import { aggregateText } from '../../machinery/field-error.js';
import { errorText } from '../../lib/error-text.js';
import type { MaybePromise } from '../../lib/maybe-promise.js';
import { openCbc } from '../aes-cbc.js';
import { openGcm, sealGcm } from '../aes-gcm.js';
import type { Direction, KeyServiceMetrics } from '../metrics.js';
import type { RandomBytes } from '../random.js';
import type { Opened, Place, SealedParts, Sealer } from '../transformer.js';
import type { KeyServiceV1 } from './key-service-v1.js';

export interface SealerV1Options {
  readonly service: KeyServiceV1;
  /** How many unwrapped keys are kept; negative for none. */
  readonly cacheSize: number;
  readonly random: RandomBytes;
  readonly metrics: KeyServiceMetrics;
}

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const LENGTH_BYTES = 2;
const MAX_WRAPPED_BYTES = 0xffff;
const KEY_SIZES = [16, 24, 32];

export class SealerV1 implements Sealer {
  /** Whether the plugin is asked is for the keys to decide that are kept here. */
  readonly opensEachTime = true;
  readonly #known: LRUCache<string, Buffer> | undefined;
  readonly #lastMs = new Map<Direction, number>();

  constructor(readonly options: SealerV1Options) {
    this.#known = options.cacheSize > 0 ? new LRUCache({ max: options.cacheSize }) : undefined;
  }

  async seal(plain: Buffer, place: Place): Promise<SealedParts> {
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
    return [length, wrapped, ...sealGcm(key, random(NONCE_BYTES), plain, place.key)];
  }

  open(sealed: Buffer, place: Place): MaybePromise<Opened> {
    this.#arrived('from_storage');
    const end = sealed.length < LENGTH_BYTES ? Infinity : LENGTH_BYTES + sealed.readUInt16BE(0);
    if (end > sealed.length) {
      throw new Error('invalid data encountered by envelope transformer: failed to read uint16 length prefixed data');
    }
    const wrapped = sealed.subarray(LENGTH_BYTES, end);
    const data = sealed.subarray(end);
    const known = this.#known?.get(wrapped.toString('latin1'));
    if (known !== undefined) return openData(known, data, place);
    return this.#unwrap(wrapped).then((key) => openData(key, data, place));
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
function openData(key: Buffer, data: Buffer, place: Place): Opened {
  const errors: string[] = [];
  try {
    return { plain: openGcm(key, data, place.key), stale: false };
  } catch (error) {
    errors.push(errorText(error));
  }
  try {
    return { plain: openCbc(key, data), stale: true, unproven: true };
  } catch (error) {
    errors.push(errorText(error));
  }
  throw new Error(aggregateText(errors));
}
