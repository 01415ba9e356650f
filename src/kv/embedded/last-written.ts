// The versions that were written last. Who updates a key mostly does so again, and a write needs all of the version that it
// replaces: what is known here is not read from the file, decompressed and checked again.
//
//   set ──▶ young ──▶ old ──▶ dropped      each generation half of the bytes
import type { StoredVersion } from './records.js';

const MAX_BYTES = 4 * 1024 * 1024;
/** A larger one would push out many. */
const MAX_VALUE_BYTES = 64 * 1024;
/** Of a version beside its value. */
const VERSION_BYTES = 256;

export class LastWritten {
  #young = new Map<string, StoredVersion>();
  #old = new Map<string, StoredVersion>();
  #youngBytes = 0;

  // hot: every write
  get(key: string): StoredVersion | undefined {
    return this.#young.get(key) ?? this.#old.get(key);
  }

  /** What a commit has made of a key; undefined where it has deleted it. */
  // hot: every write
  set(key: string, version: StoredVersion | undefined): void {
    this.#youngBytes -= bytesOf(this.#young.get(key));
    if (version === undefined || !isWorthKeeping(version)) {
      this.#young.delete(key);
      this.#old.delete(key);
      return;
    }
    this.#young.set(key, version);
    this.#youngBytes += bytesOf(version);
    if (this.#youngBytes * 2 >= MAX_BYTES) this.#age();
  }

  clear(): void {
    this.#age();
    this.#age();
  }

  #age(): void {
    this.#old = this.#young;
    this.#young = new Map();
    this.#youngBytes = 0;
  }
}

/** A small value keeps the slab of Node's pool that it lies in, which it may be the last to need. */
const bytesOf = (version: StoredVersion | undefined): number =>
  version === undefined ? 0 : version.value.buffer.byteLength + VERSION_BYTES;

/** Of what is written once, most is not written again, and each would be garbage among V8's old objects. */
const isWorthKeeping = ({ version, value }: StoredVersion): boolean =>
  version > 1 && value.length <= MAX_VALUE_BYTES && !isPartOfMuch(value);

/** It would keep in memory what it was cut from: the frame of a message, the body of a request. */
const isPartOfMuch = ({ buffer, length }: Buffer): boolean => buffer.byteLength > Math.max(Buffer.poolSize, 2 * length);
