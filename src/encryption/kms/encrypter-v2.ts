// KMS v2: values encrypted with keys derived from a seed that the service has wrapped, stored with the wrapped seed.
import { LRUCache } from 'lru-cache';
import type { MaybePromise } from '../../lib/async/maybe-promise.js';
import { errorText } from '../../lib/text/error-text.js';
import { decryptGcm } from '../aes-gcm.js';
import type { KmsPluginMetrics } from '../metrics.js';
import type { RandomBytes } from '../random.js';
import { EncryptionError, statusOf } from '../encryption-error.js';
import type { Attributes, Span } from '../../tracing/trace.js';
import type { Decrypted, Place, EncryptedParts, Encrypter, UsedKey } from '../transformer.js';
import {
  decodeEncryptedObject,
  encodedWith,
  encodeWrappedKey,
  type EncryptedObject,
  SEED,
  type WrappedKey,
  wrappedKeyText,
} from './encrypted-object.js';
import { keyHash } from './key-hash.js';
import type { KmsPluginV2 } from './kms-plugin-v2.js';
import { decryptSeeded, Seed, SEED_BYTES, encryptSeeded } from './seeded.js';
import type { WriteKey, WriteKeySource } from './write-key.js';

export interface EncrypterV2Options {
  readonly name: string;
  readonly service: KmsPluginV2;
  readonly writeKey: WriteKeySource;
  readonly random: RandomBytes;
  readonly newUid: () => string;
  readonly metrics: KmsPluginMetrics;
}

/** There are about as many as keys of the service times starts of servers. */
const MAX_SEEDS = 10_000;

/** Opens data with an unwrapped key. */
type DecryptData = (data: Buffer, key: string) => Buffer;

/** A value that is read. */
interface Reading {
  readonly object: EncryptedObject;
  readonly place: Place;
  /** It would be encrypted with another key now. */
  readonly stale: boolean;
  readonly span: Span | undefined;
}

export class EncrypterV2 implements Encrypter {
  /** By the text of their wrapped form. */
  readonly #known = new LRUCache<string, DecryptData>({ max: MAX_SEEDS });
  readonly #unwrapping = new Map<string, Promise<DecryptData>>();
  #cachedKey: WriteKey['wrapped'] | undefined;
  #seed: Seed | undefined;
  /** That key as every value has it. */
  #encoded: Buffer = Buffer.alloc(0);

  constructor(readonly options: EncrypterV2Options) {}

  // hot: every write
  encrypt(plain: Buffer, place: Place): EncryptedParts {
    const { name, writeKey, random, metrics } = this.options;
    const { seed, wrapped } = writeKey.forWriting();
    const own = (this.#cachedKey === wrapped ? this.#seed : undefined) ?? this.#cacheSeed(seed, wrapped);
    const span = place.trace?.span?.child('TransformToStorage with envelopeTransformer', this.#attributes);
    try {
      span?.event('About to encrypt data using DEK');
      const data = encryptSeeded(own, random, plain, place.key);
      span?.event('Data encryption succeeded');
      metrics.keyUsed('to_storage', name, wrapped.keyId);
      span?.event('About to encode encrypted object');
      const encrypted = encodedWith(this.#encoded, data);
      span?.event('Encoded encrypted object');
      return encrypted;
    } finally {
      span?.end();
    }
  }

  // hot: every value read
  decrypt(encrypted: Buffer, place: Place): MaybePromise<Decrypted> {
    const above = place.trace?.span;
    if (above === undefined) return this.#decrypt(encrypted, place, undefined);
    return this.#openRecorded(encrypted, place, above);
  }

  async #openRecorded(encrypted: Buffer, place: Place, above: Span): Promise<Decrypted> {
    const span = above.child('TransformFromStorage with envelopeTransformer', this.#attributes);
    try {
      return await this.#decrypt(encrypted, place, span);
    } finally {
      span.end();
    }
  }

  #decrypt(encrypted: Buffer, place: Place, span: Span | undefined): MaybePromise<Decrypted> {
    span?.event('About to decode encrypted object');
    const object = this.#decoded(encrypted, span);
    span?.event('Decoded encrypted object');
    const { wrapped } = this.options.writeKey.current();
    const stale = object.keyId !== wrapped.keyId || object.sourceType !== wrapped.sourceType;
    const text = wrappedKeyText(object);
    const known = this.#known.get(text);
    const reading = { object, place, stale, span };
    if (known !== undefined) return this.#decryptData(known, reading);
    span?.event('About to decrypt DEK using remote service');
    return this.#unwrapped(text, object).then(
      (decryptData) => {
        span?.event('DEK decryption succeeded');
        return this.#decryptData(decryptData, reading);
      },
      (error: unknown) => failWith(span, 'DEK decryption failed', error),
    );
  }

  #decoded(encrypted: Buffer, span: Span | undefined): EncryptedObject {
    try {
      return decodeEncryptedObject(encrypted);
    } catch (error) {
      return failWith(span, 'Decoding encrypted object failed', error);
    }
  }

  get #attributes(): Attributes {
    return { 'transformer.provider.name': this.options.name };
  }

  keyOf(encrypted: Buffer): UsedKey {
    const { keyId, sourceType } = decodeEncryptedObject(encrypted);
    const { wrapped } = this.options.writeKey.current();
    return { name: keyHash(keyId), writes: keyId === wrapped.keyId && sourceType === wrapped.sourceType };
  }

  #decryptData(decryptData: DecryptData, { object: { data, keyId }, place, stale, span }: Reading): Decrypted {
    this.options.metrics.keyUsed('from_storage', this.options.name, keyId);
    span?.event('About to decrypt data using DEK');
    let plain: Buffer;
    try {
      plain = decryptData(data, place.key);
    } catch (error) {
      return failWith(span, 'Data decryption failed', error);
    }
    span?.event('Data decryption succeeded');
    return { plain, stale };
  }

  /** This server reads its own writes without calling the plugin. */
  #cacheSeed(bytes: Buffer, wrapped: WrappedKey): Seed {
    const seed = new Seed(bytes);
    this.#seed = seed;
    this.#cachedKey = wrapped;
    this.#encoded = encodeWrappedKey(wrapped);
    this.#keep(wrappedKeyText(wrapped), decrypterOf(bytes, SEED));
    return seed;
  }

  /** Readers that come at the same time share one call. */
  #unwrapped(text: string, wrapped: WrappedKey): Promise<DecryptData> {
    const running = this.#unwrapping.get(text);
    if (running !== undefined) return running;
    const unwrapping = this.#unwrap(text, wrapped).finally(() => this.#unwrapping.delete(text));
    this.#unwrapping.set(text, unwrapping);
    return unwrapping;
  }

  async #unwrap(text: string, wrapped: WrappedKey): Promise<DecryptData> {
    const { service, newUid, metrics } = this.options;
    metrics.unwrapped();
    let key: Buffer;
    try {
      key = await service.decrypt(newUid(), wrapped);
    } catch (error) {
      throw new EncryptionError(`failed to decrypt DEK, error: ${errorText(error)}`, statusOf(error));
    }
    const decryptData = decrypterOf(key, wrapped.sourceType);
    this.#keep(text, decryptData);
    return decryptData;
  }

  #keep(text: string, decryptData: DecryptData): void {
    this.#known.set(text, decryptData);
    this.options.metrics.seedsKept(this.options.name, this.#known.size);
  }
}

/** Throws the error again. */
function failWith(span: Span | undefined, what: string, error: unknown): never {
  span?.event(what);
  span?.event('exception', { 'exception.message': errorText(error) });
  throw error;
}

const KEY_SIZES = [16, 24, 32];

function decrypterOf(key: Buffer, sourceType: number): DecryptData {
  if (sourceType === SEED) {
    if (key.length < SEED_BYTES) throw new Error(`invalid seed length ${key.length} used for key generation`);
    const seed = new Seed(key);
    return (data, place) => decryptSeeded(seed, data, place);
  }
  if (!KEY_SIZES.includes(key.length)) throw new Error(`crypto/aes: invalid key size ${key.length}`);
  return (data, place) => decryptGcm(key, data, place);
}
