// Several ways to encrypt, distinguished by the prefix of their values: the first one writes, all of them read.
//
//   k8s:enc:aescbc:v1: → key1: | key2:        k8s:enc:kms:v2:vault:        (nothing) → identity
import { aggregateText } from '../machinery/field-error.js';
import type { MaybePromise } from '../lib/async/maybe-promise.js';
import { errorText } from '../lib/text/error-text.js';
import { EncryptionError, statusOf } from './encryption-error.js';
import type { TransformationMetrics } from './metrics.js';
import type { Decrypted, Place, EncryptedParts, Encrypter } from './transformer.js';

export interface PrefixedEncrypter {
  /** Empty for identity. */
  readonly prefix: string;
  readonly encrypter: Encrypter;
}

interface Candidate {
  readonly prefix: string;
  readonly bytes: Buffer;
  readonly encrypter: Encrypter;
}

/** A value that is read. */
interface Reading {
  readonly value: Buffer;
  readonly place: Place;
  readonly beganMs: number;
}

export class PrefixedEncrypters implements Encrypter {
  readonly #candidates: readonly Candidate[];
  readonly #first: Candidate;

  constructor(
    encrypters: readonly PrefixedEncrypter[],
    /** What to say of a value that none of them wrote. */
    readonly unknown: string,
    readonly metrics: TransformationMetrics,
  ) {
    this.#candidates = encrypters.map(({ prefix, encrypter }) => ({ prefix, bytes: Buffer.from(prefix), encrypter }));
    const [first] = this.#candidates;
    if (first === undefined) throw new Error('nothing to encrypt with');
    this.#first = first;
  }

  get decryptsEachRead(): boolean {
    return this.#candidates.some(({ encrypter }) => encrypter.decryptsEachRead === true);
  }

  /** Each way to encrypt with the whole of its prefix, nested ones one by one. */
  *leaves(before = ''): Generator<PrefixedEncrypter> {
    for (const { prefix, encrypter } of this.#candidates) {
      if (encrypter instanceof PrefixedEncrypters) yield* encrypter.leaves(before + prefix);
      else yield { prefix: before + prefix, encrypter };
    }
  }

  // hot: every write
  encrypt(plain: Buffer, place: Place): MaybePromise<EncryptedParts> {
    const { prefix, bytes, encrypter } = this.#first;
    const beganMs = performance.now();
    const done = (body: EncryptedParts): EncryptedParts => {
      this.metrics.encrypted(place.resource, prefix, performance.now() - beganMs);
      return bytes.length === 0 ? body : [bytes, ...body];
    };
    const failed = (error: unknown): never => {
      this.metrics.encryptionFailed(place.resource, prefix, statusOf(error));
      throw error;
    };
    try {
      const body = encrypter.encrypt(plain, place);
      return body instanceof Promise ? body.then(done, failed) : done(body);
    } catch (error) {
      return failed(error);
    }
  }

  // hot: every value read
  decrypt(value: Buffer, place: Place): MaybePromise<Decrypted> {
    return this.#openFrom(0, { value, place, beganMs: performance.now() }, []);
  }

  /**
   * Also those after one that failed are tried: an old provider may have the prefix of the new one, even its key's
   * name.
   */
  #openFrom(start: number, reading: Reading, errors: readonly unknown[]): MaybePromise<Decrypted> {
    const { value, place, beganMs } = reading;
    for (let index = start; index < this.#candidates.length; index++) {
      const candidate = this.#candidates[index];
      if (candidate === undefined || !startsWith(value, candidate.bytes)) continue;
      const { prefix, bytes, encrypter } = candidate;
      const done = (opened: Decrypted): Decrypted => {
        this.metrics.opened(place.resource, prefix === '' ? 'identity' : prefix, performance.now() - beganMs);
        return index === 0 ? opened : { ...opened, stale: true };
      };
      const failed = (error: unknown): MaybePromise<Decrypted> => {
        // Identity is no provider of what is encrypted, which is no failure of its own.
        if (prefix === '') return this.#openFrom(index + 1, reading, errors);
        this.metrics.decryptionFailed(place.resource, prefix, statusOf(error));
        return this.#openFrom(index + 1, reading, [...errors, error]);
      };
      let opened: MaybePromise<Decrypted>;
      try {
        opened = encrypter.decrypt(value.subarray(bytes.length), place);
      } catch (error) {
        return failed(error);
      }
      return opened instanceof Promise ? opened.then(done, failed) : done(opened);
    }
    throw this.#failure(place, errors);
  }

  #failure(place: Place, errors: readonly unknown[]): Error {
    if (errors.length === 0) {
      this.metrics.decryptionFailed(place.resource, 'unknown', statusOf(undefined));
      return new Error(this.unknown);
    }
    return new EncryptionError(aggregateText(errors.map(errorText)), statusOf(errors[0]));
  }
}

const startsWith = (value: Buffer, prefix: Buffer): boolean =>
  prefix.length === 0 ||
  (value.length >= prefix.length && value.compare(prefix, 0, prefix.length, 0, prefix.length) === 0);
