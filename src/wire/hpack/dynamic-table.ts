// The dynamic table, newest entry first, RFC 7541, section 2.3.2. When it is full the oldest entries are evicted.
//
//   entries     [ -, -, a, b, c ]      `first` is 2: two are gone; c is the newest and has position 0
//   sequence               3  4  5     c is the fifth field ever inserted

/** The overhead of an entry, RFC 7541, section 4.1. */
export const ENTRY_BYTES = 32;
const MAX_GONE = 64;

export interface Entry {
  readonly name: string;
  readonly value: string;
  /** The first entry ever inserted has 1. */
  readonly sequence: number;
  /** An older entry of the same name, to search for a value. */
  older: Entry | undefined;
}

export const entryBytes = (name: string, value: string): number => name.length + value.length + ENTRY_BYTES;

export class DynamicTable {
  readonly #entries: Entry[] = [];
  #first = 0;
  #bytes = 0;
  #inserted = 0;
  /** Another number whenever something may be read otherwise than before. */
  version = 0;

  constructor(private limitBytes: number) {}

  get count(): number {
    return this.#entries.length - this.#first;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get maxBytes(): number {
    return this.limitBytes;
  }

  /** 0 is the newest. */
  entryAt(position: number): Entry | undefined {
    return position < this.count ? this.#entries[this.#entries.length - 1 - position] : undefined;
  }

  positionOf({ sequence }: Entry): number {
    return this.#inserted - sequence;
  }

  /** It was not evicted. */
  has({ sequence }: Entry): boolean {
    return this.#inserted - sequence < this.count;
  }

  /** The new entry; undefined when it is larger than the table, which is empty then. */
  insert(name: string, value: string, older?: Entry): Entry | undefined {
    this.version++;
    const bytes = entryBytes(name, value);
    this.#shrinkTo(this.limitBytes - bytes);
    if (bytes > this.limitBytes) return undefined;
    const entry = { name, value, sequence: ++this.#inserted, older };
    this.#entries.push(entry);
    this.#bytes += bytes;
    return entry;
  }

  resize(maxBytes: number): void {
    this.version++;
    this.limitBytes = maxBytes;
    this.#shrinkTo(maxBytes);
  }

  #shrinkTo(bytes: number): void {
    while (this.#bytes > bytes && this.count > 0) {
      const entry = this.#entries[this.#first++] as Entry;
      this.#bytes -= entryBytes(entry.name, entry.value);
    }
    if (this.#first < MAX_GONE && this.count > 0) return;
    this.#entries.splice(0, this.#first);
    this.#first = 0;
  }
}
