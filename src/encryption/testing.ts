// What tests of this room share: metrics that remember, a clock that is moved by hand, and a key service in memory.
import type { WrappedKey } from './kms/encrypted-object.js';
import { SEED } from './kms/encrypted-object.js';
import type { KeyServiceV2, ServiceStatus } from './kms/key-service-v2.js';
import { type MaybePromise, whenReady } from '../lib/maybe-promise.js';
import type { EncryptionMetrics } from './metrics.js';
import type { Place, Sealer } from './transformer.js';

export function countingMetrics(): EncryptionMetrics & { take(): string[] } {
  let seen: string[] = [];
  const note = (text: string): void => void seen.push(text);
  return {
    take: () => seen.splice(0),
    sealed: (resource, prefix) => note(`sealed ${resource} "${prefix}"`),
    sealingFailed: (resource, prefix, status) => note(`not sealed ${resource} "${prefix}" ${status}`),
    opened: (resource, prefix) => note(`opened ${resource} "${prefix}"`),
    openingFailed: (resource, prefix, status) => note(`not opened ${resource} "${prefix}" ${status}`),
    called: (provider, method, status) => note(`called ${provider} ${method} ${status}`),
    keyUsed: (direction, provider, keyId) => note(`used ${keyId} of ${provider} ${direction}`),
    keySeen: (provider, keyId) => note(`seen ${keyId} of ${provider}`),
    invalidKey: (provider, why) => note(`invalid key of ${provider}: ${why}`),
    seedsKept: (provider, count) => note(`${count} seeds of ${provider}`),
    unwrapped: () => note('unwrapped'),
    keyMade: () => note('key made'),
    dataKeysKept: (part) => note(`data keys fill ${part}`),
    arrived: () => undefined,
  };
}

/** Its state is what tests set; its "wrapping" puts the key's id before the turned bytes. */
export class MemoryKeyService implements KeyServiceV2 {
  keyId = 'key-1';
  /** Another one than the status names. */
  encryptKeyId: string | undefined;
  healthz = 'ok';
  version = 'v2';
  fails: Error | undefined;
  annotations = new Map<string, Buffer>();
  source: Buffer | undefined;
  readonly calls: string[] = [];

  async status(): Promise<ServiceStatus> {
    this.calls.push('Status');
    if (this.fails !== undefined) throw this.fails;
    return { version: this.version, healthz: this.healthz, keyId: this.keyId };
  }

  async encrypt(_uid: string, seed: Buffer): Promise<WrappedKey> {
    this.calls.push('Encrypt');
    if (this.fails !== undefined) throw this.fails;
    const keyId = this.encryptKeyId ?? this.keyId;
    const source = this.source ?? Buffer.concat([Buffer.from(`${keyId}|`), Buffer.from(seed).reverse()]);
    return { keyId, source, annotations: this.annotations, sourceType: SEED };
  }

  async decrypt(_uid: string, { source }: WrappedKey): Promise<Buffer> {
    this.calls.push('Decrypt');
    if (this.fails !== undefined) throw this.fails;
    return Buffer.from(source.subarray(source.indexOf('|') + 1)).reverse();
  }
}

/** What would be stored. */
export function sealWhole(
  sealer: Sealer & { seal(plain: Buffer, place: Place): readonly Buffer[] },
  plain: Buffer,
  place: Place,
): Buffer;
export function sealWhole(sealer: Sealer, plain: Buffer, place: Place): MaybePromise<Buffer>;
export function sealWhole(sealer: Sealer, plain: Buffer, place: Place): MaybePromise<Buffer> {
  return whenReady(sealer.seal(plain, place), (parts) => Buffer.concat(parts));
}
