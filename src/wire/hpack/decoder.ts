// Blocks of header fields, read: RFC 7541, sections 3 and 6.
import { CompressionError } from './compression-error.js';
import { DynamicTable, ENTRY_BYTES } from './dynamic-table.js';
import { decodeHuffman } from './huffman.js';
import { IntegerReader } from './integer.js';
import { STATIC_COUNT, STATIC_NAMES, STATIC_VALUES } from './static-table.js';

export const DEFAULT_TABLE_BYTES = 4096;
/** Of a block, twice as many as a mebibyte has room for. What is too large is read to its end, but not for long. */
const MAX_FIELDS = 64 * 1024;

export interface DecodedFields {
  /** Alternating names and values, a character for each byte; truncated beyond the limit. */
  readonly fields: string[];
  readonly tooLarge: boolean;
}

export class HpackDecoder {
  readonly #table: DynamicTable;
  readonly #reader = new IntegerReader();
  #fields: string[] = [];
  #left = 0;

  /** `tableBytes` is the SETTINGS_HEADER_TABLE_SIZE that this endpoint announced. */
  constructor(private readonly tableBytes = DEFAULT_TABLE_BYTES) {
    this.#table = new DynamicTable(tableBytes);
  }

  /** While it stays the same, the same bytes have the same meaning. */
  get version(): number {
    return this.#table.version;
  }

  /**
   * A block is always decoded to its end: the next block depends on the table. Fields beyond `limitBytes`, each counted
   * with its overhead of a table entry, are not kept.
   */
  decode(bytes: Buffer, limitBytes: number, start = 0, end = bytes.length): DecodedFields {
    const fields: string[] = (this.#fields = []);
    const reader = this.#reader;
    this.#left = limitBytes;
    reader.begin(start, end);
    let mayResize = true;
    let count = 0;
    while (reader.at < end) {
      if (++count > MAX_FIELDS) throw new CompressionError('a block has too many fields');
      const first = bytes[reader.at] as number;
      if (first >= 0x80) this.#indexed(bytes);
      else if (first >= 0x40) this.#literal(bytes, 6, true);
      else if (first >= 0x20) {
        if (!mayResize) throw new CompressionError('the table is resized inside a block');
        this.#resize(bytes);
        continue;
      } else this.#literal(bytes, 4, false);
      mayResize = false;
    }
    this.#fields = [];
    return { fields, tooLarge: this.#left < 0 };
  }

  #indexed(bytes: Buffer): void {
    const index = this.#reader.read(bytes, 7);
    this.#emit(this.#nameAt(index), this.#valueAt(index));
  }

  #literal(bytes: Buffer, prefixBits: number, indexed: boolean): void {
    const index = this.#reader.read(bytes, prefixBits);
    const name = index === 0 ? this.#text(bytes) : this.#nameAt(index);
    const value = this.#text(bytes);
    this.#emit(name, value);
    if (indexed) this.#table.insert(name, value);
  }

  #resize(bytes: Buffer): void {
    const limitBytes = this.#reader.read(bytes, 5);
    if (limitBytes > this.tableBytes) throw new CompressionError('the table is larger than allowed');
    this.#table.resize(limitBytes);
  }

  #emit(name: string, value: string): void {
    this.#left -= name.length + value.length + ENTRY_BYTES;
    if (this.#left >= 0) this.#fields.push(name, value);
  }

  #nameAt(index: number): string {
    if (index <= STATIC_COUNT && index > 0) return STATIC_NAMES[index] as string;
    return this.#entry(index).name;
  }

  #valueAt(index: number): string {
    if (index <= STATIC_COUNT && index > 0) return STATIC_VALUES[index] as string;
    return this.#entry(index).value;
  }

  #entry(index: number): { readonly name: string; readonly value: string } {
    const entry = index === 0 ? undefined : this.#table.entryAt(index - STATIC_COUNT - 1);
    if (entry === undefined) throw new CompressionError('an index beyond the tables');
    return entry;
  }

  #text(bytes: Buffer): string {
    const reader = this.#reader;
    const huffman = ((bytes[reader.at] ?? 0) & 0x80) !== 0;
    const length = reader.read(bytes, 7);
    const start = reader.at;
    const end = start + length;
    if (end > reader.end) throw new CompressionError('a string ends early');
    reader.at = end;
    return huffman ? decodeHuffman(bytes, start, end) : bytes.toString('latin1', start, end);
  }
}
