// The seed that a KMS v2 service has wrapped for this server's writes, kept fresh by the service's status.
//
// Its status names the key it wraps with now. While that stays the same the seed stays, good for three more minutes
// from each status; another key means another seed. When the service fails, or contradicts itself, the old seed goes
// on to encrypt until its time is over, and to open for ever.
import { errorText } from '../../lib/text/error-text.js';
import { goQuote } from '../../lib/go/quote.js';
import { aggregateText } from '../../machinery/field-error.js';
import type { Clock } from '../../lib/async/clock.js';
import type { KmsPluginMetrics } from '../metrics.js';
import type { RandomBytes } from '../random.js';
import { checkWrappedKey, keyIdMistake, type WrappedKey } from './encrypted-object.js';
import { keyHash } from './key-hash.js';
import type { KmsPluginV2, ServiceStatus } from './kms-plugin-v2.js';
import { SEED_BYTES } from './seeded.js';

export interface WriteKey {
  readonly seed: Buffer;
  readonly wrapped: WrappedKey;
  /** After this nothing is encrypted with it. */
  readonly expiresAtMs: number;
}

export interface WriteKeyOptions {
  readonly name: string;
  readonly service: KmsPluginV2;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly newUid: () => string;
  readonly metrics: KmsPluginMetrics;
}

/** A status of the plugin is valid for so long. */
const GOOD_ANSWER_MS = 20_000;
const BAD_ANSWER_MS = 3_000;
const WRITE_KEY_MS = 3 * 60_000;
const VERSIONS = ['v2', 'v2beta1'];
const NO_KEY = 'got unexpected nil transformer';

export class WriteKeySource {
  #key: WriteKey | undefined;
  #version = '';
  #last: { readonly error: string | undefined; readonly atMs: number } | undefined;
  #checking: Promise<string | undefined> | undefined;

  constructor(readonly options: WriteKeyOptions) {}

  /** Fails when the service was never reached. */
  current(): WriteKey {
    if (this.#key === undefined) throw new Error(NO_KEY);
    return this.#key;
  }

  /** The current key, for encrypting. */
  forWriting(): WriteKey {
    const key = this.current();
    const now = this.options.clock.now();
    if (now <= key.expiresAtMs) return key;
    const hash = goQuote(keyHash(key.wrapped.keyId));
    throw new Error(
      `encryptedDEKSource with keyID hash ${hash} expired at ${time(key.expiresAtMs)} (current time is ${time(now)})`,
    );
  }

  /** What is wrong with the plugin, if anything; calls it when its last status is old. */
  check(): Promise<string | undefined> {
    const { clock } = this.options;
    if (this.#last !== undefined) {
      const goodForMs = this.#last.error === undefined ? GOOD_ANSWER_MS : BAD_ANSWER_MS;
      if (clock.now() - this.#last.atMs < goodForMs) return Promise.resolve(this.#last.error);
    }
    this.#checking ??= this.#checkStatus().finally(() => (this.#checking = undefined));
    return this.#checking;
  }

  async #checkStatus(): Promise<string | undefined> {
    const { name, service, clock } = this.options;
    let status: ServiceStatus;
    try {
      status = await service.status();
    } catch (error) {
      this.#last = { error: errorText(error), atMs: clock.now() };
      const about = 'failed to perform status section of the healthz check for KMS Provider';
      return `${about} ${name}, error: ${errorText(error)}`;
    }
    const errors = await this.#applyStatus(status);
    const error =
      errors.length === 0 ? undefined : `kmsv2 Provider ${name} is not healthy, error: ${aggregateText(errors)}`;
    this.#last = { error, atMs: clock.now() };
    return error;
  }

  async #applyStatus({ healthz, version, keyId }: ServiceStatus): Promise<string[]> {
    const { name, metrics } = this.options;
    const errors: string[] = [];
    if (healthz !== 'ok') errors.push(`got unexpected healthz status: ${healthz}`);
    if (!VERSIONS.includes(version)) {
      errors.push(`expected KMSv2 API version v2, got ${version}`);
    } else {
      if (this.#version === '') this.#version = version;
      if (this.#version !== version) {
        const first = `the initial status response version ${this.#version}`;
        errors.push(`KMSv2 API version should not change after ${first}, got ${version}`);
      }
    }
    const wrong = keyIdMistake(keyId);
    if (wrong !== undefined) {
      metrics.invalidKey(name, wrong.code);
      errors.push(`got invalid KMSv2 KeyID hash ${goQuote(keyHash(keyId))}: ${wrong.text}`);
      return errors;
    }
    metrics.keySeen(name, keyId);
    const failure = await this.#follow(keyId);
    if (failure !== undefined) errors.push(failure);
    return errors;
  }

  /** Keeps the seed while the service's key is the one that wrapped it, else has a new one wrapped. */
  async #follow(statusKeyId: string): Promise<string | undefined> {
    const known = this.#key;
    // From before the call, so that a slow service does not lengthen it.
    const expiresAtMs = this.options.clock.now() + WRITE_KEY_MS;
    if (known?.wrapped.keyId === statusKeyId) {
      this.#key = { ...known, expiresAtMs };
      return undefined;
    }
    const uid = this.options.newUid();
    let made: WriteKey | undefined;
    let why = '<nil>';
    try {
      made = await this.#make(uid, expiresAtMs);
    } catch (error) {
      why = errorText(error);
    }
    if (made?.wrapped.keyId === statusKeyId) {
      this.#key = made;
      return undefined;
    }
    const hashes =
      `statusKeyIDHash=${goQuote(keyHash(statusKeyId))}, ` +
      `encryptKeyIDHash=${goQuote(keyHash(made?.wrapped.keyId ?? ''))}, ` +
      `stateKeyIDHash=${goQuote(keyHash(known?.wrapped.keyId ?? ''))}`;
    const state = known === undefined ? NO_KEY : '<nil>';
    const expires = known === undefined ? NEVER : time(known.expiresAtMs);
    return (
      `failed to rotate DEK uid=${goQuote(uid)}, useSeed=true, errState=${state}, errGen=${why}, ${hashes}, ` +
      `expirationTimestamp=${expires}`
    );
  }

  async #make(uid: string, expiresAtMs: number): Promise<WriteKey> {
    const { service, random, metrics } = this.options;
    const beganMs = performance.now();
    const seed = random(SEED_BYTES);
    metrics.keyMade((performance.now() - beganMs) / 1000);
    let wrapped: WrappedKey;
    try {
      wrapped = await service.encrypt(uid, seed);
    } catch (error) {
      throw new Error(`failed to encrypt DEK, error: ${errorText(error)}`, { cause: error });
    }
    checkWrappedKey(wrapped);
    return { seed, wrapped, expiresAtMs };
  }
}

const NEVER = '0001-01-01T00:00:00Z';
const time = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
