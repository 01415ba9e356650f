// What storage knows of encryption at rest: values are encrypted on their way to the store and decrypted on their way back.
import type { MaybePromise } from '../lib/async/maybe-promise.js';
import type { Trace } from '../tracing/trace.js';

export interface Decrypted {
  readonly plain: Buffer;
  /** Not as it would be encrypted now: the next write moves it, even one that changes nothing. */
  readonly stale: boolean;
  /** True when nothing vouches for the bytes, so that a wrong key can yield garbage instead of an error. */
  readonly unproven?: boolean;
}

/** Encrypts and decrypts the values of one resource. `key` is the full key, which ciphers may bind the value to. */
export interface ValueTransformer {
  toStorage(plain: Buffer, key: string, trace?: Trace): MaybePromise<Buffer>;
  fromStorage(value: Buffer, key: string, trace?: Trace): MaybePromise<Decrypted>;
  /** What was decrypted before might fail now: other providers are in force than at first. */
  readonly changed?: boolean;
  /** A read of the newest version decrypts it anew, although the cache has it: the plugin must be called each time. */
  readonly decryptsEachRead?: boolean;
}

/** Where a value lies: what it is bound to, and which resource the counts name. */
export interface Place {
  readonly key: string;
  /** `secrets`, `deployments.apps`. */
  readonly resource: string;
  /** Of the request that reads or writes it. */
  readonly trace?: Trace | undefined;
}

/** An encrypted value in the order of its parts: whoever stores it puts them together, once. */
export type EncryptedParts = readonly Buffer[];

/** One way to encrypt a value; what distinguishes it from the others (its prefix) is not part of what it sees. */
export interface Encrypter {
  encrypt(plain: Buffer, place: Place): MaybePromise<EncryptedParts>;
  /** Fails with kube-apiserver's words. */
  decrypt(encrypted: Buffer, place: Place): MaybePromise<Decrypted>;
  /** As that of a transformer. */
  readonly decryptsEachRead?: boolean;
  /** Which key of a KMS plugin encrypted a value, found without calling the plugin. */
  keyOf?(encrypted: Buffer): UsedKey;
}

export interface UsedKey {
  /** A hash of its id. */
  readonly name: string;
  /** Values are encrypted with it now. */
  readonly writes: boolean;
}

/** What every encrypted value begins with. */
const ENCRYPTED_PREFIX = 'k8s:enc:';
const LETTER_K = 0x6b;

// hot: every value read from a store without encryption
export const isEncrypted = (value: Buffer): boolean =>
  value[0] === LETTER_K && value.toString('latin1', 0, ENCRYPTED_PREFIX.length) === ENCRYPTED_PREFIX;

export const UNEXPECTEDLY_ENCRYPTED = 'identity transformer tried to read encrypted data';
export const TOO_SHORT = 'the stored data was shorter than the required size';
