// Encodes header blocks: a field that was sent before becomes an index, RFC 7541, section 6.
import type { ByteWriter } from '../byte-writer.js';
import { DEFAULT_TABLE_BYTES } from './decoder.js';
import { DynamicTable, ENTRY_BYTES, type Entry, entryBytes } from './dynamic-table.js';
import { huffmanBytes, putHuffman } from './huffman.js';
import { MAX_INTEGER_BYTES, putInteger } from './integer.js';
import { STATIC_COUNT, STATIC_INDEX_OF_NAME, STATIC_INDEX_OF_STATUS } from './static-table.js';

const INDEXED = 0x80;
const WITH_INDEXING = 0x40;
const RESIZED = 0x20;
const NEVER_INDEXED = 0x10;
const PLAIN = 0x00;
const HUFFMAN = 0x80;

/** Fields that differ in nearly every message: indexing them would evict fields that repeat. */
const PASSING: ReadonlySet<string> = new Set([
  'audit-id',
  'content-length',
  'etag',
  'location',
  'traceparent',
  'tracestate',
  'warning',
]);
/** Never-indexed literals: no intermediary may index them either. */
const SECRET: ReadonlySet<string> = new Set(['set-cookie', 'authorization', 'proxy-authorization']);
const MAX_MEMOIZED_CHARACTERS = 1024;
/** Of one name, when a value is looked for. */
const MAX_COMPARED = 8;
/** Beyond this many names the evicted ones are removed. The table has room for at most this many entries. */
const MAX_NAMES = DEFAULT_TABLE_BYTES / ENTRY_BYTES;

export class HpackEncoder {
  /** The newest of each name. */
  readonly #known = new Map<string, Entry>();
  readonly #table: DynamicTable;
  /** The table's sizes since the last block, which the next one begins with. */
  #resizedTo: { lowest: number; last: number } | undefined = undefined;

  constructor(private readonly maxTableBytes = DEFAULT_TABLE_BYTES) {
    this.#table = new DynamicTable(maxTableBytes);
  }

  /** The other end keeps a table of so many bytes at most. */
  limitTable(bytes: number): void {
    const size = Math.min(bytes, this.maxTableBytes);
    if (size === this.#table.maxBytes) return;
    this.#resizedTo = { lowest: Math.min(size, this.#resizedTo?.lowest ?? size), last: size };
    this.#table.resize(size);
  }

  /** While it stays the same, a block that was written after `begin` may be written again as it was. */
  get version(): number {
    return this.#table.version;
  }

  /** Comes first in a block, where `putStatus` does not. */
  begin(out: ByteWriter): void {
    if (this.#resizedTo !== undefined) this.#putResized(out, this.#resizedTo);
  }

  /** Comes first in a block. */
  putStatus(out: ByteWriter, status: number): void {
    this.begin(out);
    const index = STATIC_INDEX_OF_STATUS.get(status);
    if (index === undefined) return this.putField(out, ':status', String(status));
    out.ensure(1);
    out.bytes[out.at++] = INDEXED | index;
  }

  /** `name` in lower case. What would end a line in other versions of HTTP becomes a space. */
  // hot: some ten times for each answer.
  putField(out: ByteWriter, name: string, value: string): void {
    const newest = this.#known.get(name);
    // The newest first: of a date they are all but one past.
    for (let entry = newest; entry !== undefined && this.#table.has(entry); entry = entry.older) {
      if (entry.value !== value) continue;
      out.ensure(MAX_INTEGER_BYTES);
      putInteger(out, INDEXED, 7, STATIC_COUNT + 1 + this.#table.positionOf(entry));
      return;
    }
    this.#putLiteral(out, name, value, newest !== undefined && this.#table.has(newest) ? newest : undefined);
  }

  #putLiteral(out: ByteWriter, name: string, value: string, sameName: Entry | undefined): void {
    out.ensure(name.length + value.length + 3 * MAX_INTEGER_BYTES);
    const index =
      STATIC_INDEX_OF_NAME.get(name) ??
      (sameName === undefined ? 0 : STATIC_COUNT + 1 + this.#table.positionOf(sameName));
    const indexed = this.#isIndexed(name, value, index);
    if (indexed) putInteger(out, WITH_INDEXING, 6, index);
    else putInteger(out, SECRET.has(name) ? NEVER_INDEXED : PLAIN, 4, index);
    if (index === 0) putText(out, name, indexed);
    putText(out, oneLine(value), indexed);
    if (!indexed) return;
    const entry = this.#table.insert(name, value, sameName);
    if (entry === undefined) return;
    this.#known.set(name, entry);
    forgetAfter(entry, MAX_COMPARED);
    if (this.#known.size > MAX_NAMES) this.#forgetGone();
  }

  /** Whether to index the field. The first of a field that differs in each message is indexed for its name. */
  #isIndexed(name: string, value: string, nameIndex: number): boolean {
    return (
      value.length <= MAX_MEMOIZED_CHARACTERS &&
      (nameIndex === 0 || !PASSING.has(name)) &&
      !SECRET.has(name) &&
      entryBytes(name, value) <= this.#table.maxBytes &&
      // A value with line breaks is sent with spaces instead, so the table would not hold what was sent.
      !BREAKS.test(value)
    );
  }

  #forgetGone(): void {
    for (const [name, newest] of this.#known) if (!this.#table.has(newest)) this.#known.delete(name);
  }

  #putResized(out: ByteWriter, { lowest, last }: { lowest: number; last: number }): void {
    this.#resizedTo = undefined;
    out.ensure(2 * MAX_INTEGER_BYTES);
    if (lowest < last) putInteger(out, RESIZED, 5, lowest);
    putInteger(out, RESIZED, 5, last);
  }
}

/** The others of its name are looked for no more. */
function forgetAfter(newest: Entry, count: number): void {
  let last: Entry | undefined = newest;
  for (let i = 1; i < count && last !== undefined; i++) last = last.older;
  if (last !== undefined) last.older = undefined;
}

/** What is sent often is made short; what is sent once is not worth the work. */
function putText(out: ByteWriter, text: string, often: boolean): void {
  const bytes = often ? huffmanBytes(text) : text.length;
  if (bytes < text.length) {
    putInteger(out, HUFFMAN, 7, bytes);
    putHuffman(out, text);
  } else {
    putInteger(out, 0, 7, text.length);
    out.putLatin1(text);
  }
}

const BREAKS = /[\x00\r\n]/;
const oneLine = (value: string): string => (BREAKS.test(value) ? value.replace(/[\x00\r\n]/g, ' ') : value);
