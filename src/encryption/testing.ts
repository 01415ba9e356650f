// What tests of this room share: metrics that record, a clock that is moved by hand, and a KMS plugin in memory.
import type { WrappedKey } from './kms/encrypted-object.js';
import { SEED } from './kms/encrypted-object.js';
import type { KmsPluginV2, ServiceStatus } from './kms/kms-plugin-v2.js';
import { type MaybePromise, whenReady } from '../lib/async/maybe-promise.js';
import type { EncryptionMetrics } from './metrics.js';
import type { Place, Encrypter } from './transformer.js';

export function countingMetrics(): EncryptionMetrics & { take(): string[] } {
  let seen: string[] = [];
  const note = (text: string): void => void seen.push(text);
  return {
    take: () => seen.splice(0),
    encrypted: (resource, prefix) => note(`encrypted ${resource} "${prefix}"`),
    encryptionFailed: (resource, prefix, status) => note(`not encrypted ${resource} "${prefix}" ${status}`),
    opened: (resource, prefix) => note(`opened ${resource} "${prefix}"`),
    decryptionFailed: (resource, prefix, status) => note(`not opened ${resource} "${prefix}" ${status}`),
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
export class MemoryKmsPlugin implements KmsPluginV2 {
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
export function encryptWhole(
  encrypter: Encrypter & { encrypt(plain: Buffer, place: Place): readonly Buffer[] },
  plain: Buffer,
  place: Place,
): Buffer;
export function encryptWhole(encrypter: Encrypter, plain: Buffer, place: Place): MaybePromise<Buffer>;
export function encryptWhole(encrypter: Encrypter, plain: Buffer, place: Place): MaybePromise<Buffer> {
  return whenReady(encrypter.encrypt(plain, place), (parts) => Buffer.concat(parts));
}
