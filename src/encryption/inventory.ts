// Which key encrypted a stored value, found by its prefix. Nothing is decrypted for it, unless keys share a name.
import { type MaybePromise, whenReady } from '../lib/async/maybe-promise.js';
import type { PrefixedEncrypter, PrefixedEncrypters } from './prefixed.js';
import { isEncrypted, type Place } from './transformer.js';

export interface EncryptedBy {
  /** `aesgcm:v1:key1`, `kms:v2:vault`, `identity`; for what nothing here wrote, how it begins. */
  readonly provider: string;
  /** Of a KMS plugin: a hash of the id of its key. */
  readonly key?: string;
  /** Values are encrypted so now. */
  readonly writes: boolean;
  /** False for what no provider can have written. */
  readonly known: boolean;
}

/** Values of unknown providers are distinguished by so many characters. */
const SHOWN_CHARACTERS = 64;
const ENCRYPTED = 'k8s:enc:';
const IDENTITY = 'identity';

interface Leaf extends PrefixedEncrypter {
  readonly bytes: Buffer;
  readonly writes: boolean;
}

export class Inventory {
  readonly #leaves: readonly Leaf[];

  constructor(encrypters: PrefixedEncrypters) {
    this.#leaves = [...encrypters.leaves()].map((leaf, i) => ({
      ...leaf,
      bytes: Buffer.from(leaf.prefix),
      writes: i === 0,
    }));
  }

  /** The names of all keys, those that write first. */
  providers(): { readonly provider: string; readonly writes: boolean }[] {
    return this.#leaves.map(({ prefix, writes }) => ({ provider: nameOf(prefix), writes }));
  }

  /** At once, unless keys share a name: a scan has no promise for each value. */
  encryptedBy(value: Buffer, place: Place): MaybePromise<EncryptedBy> {
    return whenReady(this.#leafOf(value, place), (leaf) => this.#describe(value, leaf));
  }

  #describe(value: Buffer, leaf: Leaf | undefined): EncryptedBy {
    if (leaf === undefined) return { provider: unknownPrefix(value), writes: false, known: false };
    const { prefix, bytes, encrypter, writes } = leaf;
    const provider = nameOf(prefix);
    if (encrypter.keyOf === undefined) return { provider, writes, known: true };
    try {
      const key = encrypter.keyOf(value.subarray(bytes.length));
      return { provider, key: key.name, writes: writes && key.writes, known: true };
    } catch {
      return { provider, writes: false, known: false };
    }
  }

  #leafOf(value: Buffer, place: Place): MaybePromise<Leaf | undefined> {
    const encrypted = isEncrypted(value);
    const fitting = this.#leaves.filter(({ prefix, bytes }) =>
      prefix === '' ? !encrypted : value.length >= bytes.length && value.subarray(0, bytes.length).equals(bytes),
    );
    return fitting.length < 2 ? fitting[0] : this.#opening(fitting, value, place);
  }

  async #opening(fitting: readonly Leaf[], value: Buffer, place: Place): Promise<Leaf | undefined> {
    for (const leaf of fitting) {
      try {
        await leaf.encrypter.decrypt(value.subarray(leaf.bytes.length), place);
        return leaf;
      } catch {
        // Another key of the same name, then.
      }
    }
    return undefined;
  }
}

const nameOf = (prefix: string): string => (prefix === '' ? IDENTITY : prefix.slice(ENCRYPTED.length, -1));

/** Up to the name of the key, as far as the parts are recognized. */
function unknownPrefix(value: Buffer): string {
  if (!isEncrypted(value)) return 'not encrypted';
  const parts = value.toString('latin1', ENCRYPTED.length, ENCRYPTED.length + SHOWN_CHARACTERS).split(':');
  return parts
    .slice(0, 3)
    .join(':')
    .replace(/[^\x20-\x7e]/g, '?');
}
