// The file that `binnacle backup` writes: a snapshot as a stream, so that it can go through a pipe and be read in one pass.
// Values are as the store has them; encrypted ones stay encrypted.
//
//   gzip of   {"format":"binnacle-backup","version":1,"revision":R,"keys":N}\n
//             for each key, in order:   1  keyLength(2)  valueLength(4)  createRevision(6) modRevision(6) version(6) expiresAtMs(6)
//                                       key value
//             at the end:               0  SHA-256 of everything before
//
// Numbers are big-endian. A file without its end, or with another checksum, is damaged.
import { createHash, type Hash } from 'node:crypto';
import type { Readable } from 'node:stream';
import zlib from 'node:zlib';
import { KvError } from './kv.js';
import type { Snapshot, SnapshotEntry } from './snapshot.js';

const FORMAT = 'binnacle-backup';
const VERSION = 1;
const ENTRY = 1;
const END = 0;
const ENTRY_HEAD = 31;
const HASH_BYTES = 32;
const LINE_BREAK = 0x0a;
const MAX_HEADER_BYTES = 4096;
/** Of a value; a longer one is damage, and no memory is taken for it. */
const MAX_VALUE_BYTES = 16 * 1024 * 1024;
const PAGE_KEYS = 500;
const PAGE_BYTES = 1024 * 1024;

/** The bytes of the file, in pieces; `written` is called with how many keys they have so far. */
export async function* backupBytes(snapshot: Snapshot, written?: (keys: number) => void): AsyncGenerator<Buffer> {
  const hash = createHash('sha256');
  const { revision, keys } = snapshot;
  const header = Buffer.from(`${JSON.stringify({ format: FORMAT, version: VERSION, revision, keys })}\n`);
  hash.update(header);
  yield header;
  let count = 0;
  for await (const page of snapshot.pages()) {
    const bytes = Buffer.concat(page.flatMap(encodeEntry));
    hash.update(bytes);
    yield bytes;
    count += page.length;
    written?.(count);
  }
  if (count !== keys) throw new KvError('damaged', `the store has ${count} keys, and says that it has ${keys}`);
  const end = Buffer.of(END);
  hash.update(end);
  yield Buffer.concat([end, hash.digest()]);
}

/** What makes the file of these bytes. */
export const compressor = (): zlib.Gzip => zlib.createGzip({ level: zlib.constants.Z_BEST_SPEED });

function encodeEntry({ name, value, createRevision, modRevision, version, expiresAtMs }: SnapshotEntry): Buffer[] {
  const head = Buffer.allocUnsafe(ENTRY_HEAD);
  head[0] = ENTRY;
  head.writeUInt16BE(name.length, 1);
  head.writeUInt32BE(value.length, 3);
  head.writeUIntBE(createRevision, 7, 6);
  head.writeUIntBE(modRevision, 13, 6);
  head.writeUIntBE(version, 19, 6);
  head.writeUIntBE(expiresAtMs, 25, 6);
  return [head, name, value];
}

/** `name` is for messages. Fails where the stream does not begin as a backup does. */
export async function openBackup(file: Readable, name: string): Promise<Snapshot> {
  const unzipped = file.pipe(zlib.createGunzip());
  // Without this, a file that cannot be read would leave the reader waiting.
  file.once('error', (error) => unzipped.destroy(error));
  const reader = new ByteReader(unzipped, name);
  try {
    const { revision, keys } = headerOf(await reader.line(), name);
    return {
      revision,
      keys,
      pages: () => pagesOf(reader, name, keys),
      async close() {
        file.destroy();
        unzipped.destroy();
      },
    };
  } catch (error) {
    file.destroy();
    // Whatever else it is, it does not begin as a backup.
    throw error instanceof KvError && error.code === 'damaged' ? noBackup(name) : error;
  }
}

function headerOf(line: Buffer, name: string): { readonly revision: number; readonly keys: number } {
  let header: { format?: unknown; version?: unknown; revision?: unknown; keys?: unknown };
  try {
    header = JSON.parse(line.toString()) as typeof header;
  } catch {
    throw noBackup(name);
  }
  const { format, version, revision, keys } = header;
  if (format !== FORMAT || typeof version !== 'number') throw noBackup(name);
  if (version > VERSION) {
    const text = `${name} is a backup of version ${version}, written by a newer release; this one reads up to version ${VERSION}`;
    throw new KvError('newer-format', text);
  }
  if (!Number.isSafeInteger(revision) || !Number.isSafeInteger(keys)) throw noBackup(name);
  return { revision: Number(revision), keys: Number(keys) };
}

async function* pagesOf(reader: ByteReader, name: string, keys: number): AsyncGenerator<readonly SnapshotEntry[]> {
  let page: SnapshotEntry[] = [];
  let bytes = 0;
  let count = 0;
  let last: Buffer | undefined;
  while ((await reader.read(1))[0] === ENTRY) {
    const head = await reader.read(ENTRY_HEAD - 1);
    const [keyLength, valueLength] = [head.readUInt16BE(0), head.readUInt32BE(2)];
    if (valueLength > MAX_VALUE_BYTES) throw damagedFile(name, 'a value is longer than any');
    const content = await reader.read(keyLength + valueLength);
    const key = content.subarray(0, keyLength);
    if (last !== undefined && last.compare(key) >= 0) throw damagedFile(name, 'its keys are not in order');
    last = key;
    page.push({
      key: key.toString(),
      name: key,
      value: content.subarray(keyLength),
      createRevision: head.readUIntBE(6, 6),
      modRevision: head.readUIntBE(12, 6),
      version: head.readUIntBE(18, 6),
      expiresAtMs: head.readUIntBE(24, 6),
    });
    count++;
    bytes += content.length;
    if (page.length < PAGE_KEYS && bytes < PAGE_BYTES) continue;
    yield page;
    page = [];
    bytes = 0;
  }
  const hash = reader.digest();
  if (!hash.equals(await reader.read(HASH_BYTES))) throw damagedFile(name, 'its checksum does not match');
  await reader.end();
  if (count !== keys) throw damagedFile(name, `it has ${count} keys, and says that it has ${keys}`);
  if (page.length > 0) yield page;
}

/** Exactly so many bytes at a time, of a stream; all that was read is in the checksum. */
class ByteReader {
  readonly #chunks: AsyncIterator<Buffer>;
  readonly #hash: Hash = createHash('sha256');
  #left: Buffer = Buffer.alloc(0);

  constructor(
    stream: Readable,
    private readonly name: string,
  ) {
    this.#chunks = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  }

  async read(length: number): Promise<Buffer> {
    if (this.#left.length < length) await this.#fill(length);
    const bytes = this.#left.subarray(0, length);
    this.#left = this.#left.subarray(length);
    this.#hash.update(bytes);
    return bytes;
  }

  /** Without its break. */
  async line(): Promise<Buffer> {
    let at = -1;
    for (let length = 1; at < 0; length = this.#left.length + 1) {
      if (length > MAX_HEADER_BYTES) throw noBackup(this.name);
      await this.#fill(length);
      at = this.#left.indexOf(LINE_BREAK);
    }
    return (await this.read(at + 1)).subarray(0, at);
  }

  /** Of what was read so far. */
  digest(): Buffer {
    return this.#hash.copy().digest();
  }

  /** Nothing follows. */
  async end(): Promise<void> {
    if (this.#left.length > 0 || (await this.#next()) !== undefined)
      throw damagedFile(this.name, 'something follows its end');
  }

  async #fill(length: number): Promise<void> {
    const chunks = [this.#left];
    let total = this.#left.length;
    while (total < length) {
      const chunk = await this.#next();
      if (chunk === undefined) throw damagedFile(this.name, 'it ends too early');
      chunks.push(chunk);
      total += chunk.length;
    }
    this.#left = chunks.length === 1 ? this.#left : Buffer.concat(chunks);
  }

  async #next(): Promise<Buffer | undefined> {
    try {
      const { done, value } = await this.#chunks.next();
      return done === true ? undefined : value;
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      if (code === 'Z_BUF_ERROR') throw damagedFile(this.name, 'it ends too early');
      if (code.startsWith('Z_')) throw damagedFile(this.name, 'its compressed data are corrupt');
      throw error;
    }
  }
}

const noBackup = (name: string): KvError => new KvError('damaged', `${name} is no backup of this program`);

const damagedFile = (name: string, why: string): KvError =>
  new KvError('damaged', `the backup ${name} is damaged: ${why}`);
