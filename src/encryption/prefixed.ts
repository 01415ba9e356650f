// Several ways to seal, told apart by what their values begin with: the first one writes, all of them read.
//
//   k8s:enc:aescbc:v1: → key1: | key2:        k8s:enc:kms:v2:vault:        (nothing) → identity
import { aggregateText } from '../machinery/field-error.js';
import type { MaybePromise } from '../lib/maybe-promise.js';
import { errorText } from '../lib/error-text.js';
import { SealError, statusOf } from './seal-error.js';
import type { TransformationMetrics } from './metrics.js';
import type { Opened, Place, SealedParts, Sealer } from './transformer.js';

export interface PrefixedSealer {
  /** Empty for identity. */
  readonly prefix: string;
  readonly sealer: Sealer;
}

interface Candidate {
  readonly prefix: string;
  readonly bytes: Buffer;
  readonly sealer: Sealer;
}

export class PrefixedSealers implements Sealer {
  readonly #candidates: readonly Candidate[];
  readonly #first: Candidate;

  constructor(
    sealers: readonly PrefixedSealer[],
    /** What to say of a value that none of them wrote. */
    readonly unknown: string,
    readonly metrics: TransformationMetrics,
  ) {
    this.#candidates = sealers.map(({ prefix, sealer }) => ({ prefix, bytes: Buffer.from(prefix), sealer }));
    const [first] = this.#candidates;
    if (first === undefined) throw new Error('nothing to seal with');
    this.#first = first;
  }

  get opensEachTime(): boolean {
    return this.#candidates.some(({ sealer }) => sealer.opensEachTime === true);
  }

  /** Each way to seal with the whole of its prefix, those that are told apart further inside one by one. */
  *leaves(before = ''): Generator<PrefixedSealer> {
    for (const { prefix, sealer } of this.#candidates) {
      if (sealer instanceof PrefixedSealers) yield* sealer.leaves(before + prefix);
      else yield { prefix: before + prefix, sealer };
    }
  }

  // hot: every write
  seal(plain: Buffer, place: Place): MaybePromise<SealedParts> {
    const { prefix, bytes, sealer } = this.#first;
    const beganMs = performance.now();
    const done = (body: SealedParts): SealedParts => {
      this.metrics.sealed(place.resource, prefix, performance.now() - beganMs);
      return bytes.length === 0 ? body : [bytes, ...body];
    };
    const failed = (error: unknown): never => {
      this.metrics.sealingFailed(place.resource, prefix, statusOf(error));
      throw error;
    };
    try {
      const body = sealer.seal(plain, place);
      return body instanceof Promise ? body.then(done, failed) : done(body);
    } catch (error) {
      return failed(error);
    }
  }

  // hot: every value read
  open(value: Buffer, place: Place): MaybePromise<Opened> {
    return this.#openFrom(0, value, place, performance.now(), []);
  }

  /**
   * Also those after one that failed are tried: an old provider may have the prefix of the new one, even its key's
   * name.
   */
  #openFrom(
    start: number,
    value: Buffer,
    place: Place,
    beganMs: number,
    errors: readonly unknown[],
  ): MaybePromise<Opened> {
    for (let index = start; index < this.#candidates.length; index++) {
      const candidate = this.#candidates[index];
      if (candidate === undefined || !startsWith(value, candidate.bytes)) continue;
      const { prefix, bytes, sealer } = candidate;
      const done = (opened: Opened): Opened => {
        this.metrics.opened(place.resource, prefix === '' ? 'identity' : prefix, performance.now() - beganMs);
        return index === 0 ? opened : { ...opened, stale: true };
      };
      const failed = (error: unknown): MaybePromise<Opened> => {
        // Identity is no provider of what is sealed, which is no failure of its own.
        if (prefix === '') return this.#openFrom(index + 1, value, place, beganMs, errors);
        this.metrics.openingFailed(place.resource, prefix, statusOf(error));
        return this.#openFrom(index + 1, value, place, beganMs, [...errors, error]);
      };
      let opened: MaybePromise<Opened>;
      try {
        opened = sealer.open(value.subarray(bytes.length), place);
      } catch (error) {
        return failed(error);
      }
      return opened instanceof Promise ? opened.then(done, failed) : done(opened);
    }
    throw this.#failure(place, errors);
  }

  #failure(place: Place, errors: readonly unknown[]): Error {
    if (errors.length === 0) {
      this.metrics.openingFailed(place.resource, 'unknown', statusOf(undefined));
      return new Error(this.unknown);
    }
    return new SealError(aggregateText(errors.map(errorText)), statusOf(errors[0]));
  }
}

const startsWith = (value: Buffer, prefix: Buffer): boolean =>
  prefix.length === 0 ||
  (value.length >= prefix.length && value.compare(prefix, 0, prefix.length, 0, prefix.length) === 0);
