// Finds the end of a message's head in bytes that come in any pieces, looking at each byte once.

const END = '\r\n\r\n';
const LF = 0x0a;
const NOTHING = Buffer.alloc(0);

/** What heads are read by. `Head` is also what is said of something that is none. */
export interface HeadRules<Head> {
  readonly maxBytes: number;
  readonly tooLarge: Head;
  /** `text`: everything before the empty line, a character for each byte. */
  readonly parse: (text: string) => Head;
  /** Checks the first line (without its end) before the head is complete: another protocol is refused early. */
  readonly checkFirstLine: (line: string) => Head | undefined;
}

export interface FoundHead<Head> {
  readonly head: Head;
  /** What follows the head. */
  readonly rest: Buffer;
  /** Of the head, its end included. */
  readonly bytes: number;
}

export class HeadReader<Head> {
  readonly #rules: HeadRules<Head>;
  #pieces: Buffer[] = [];
  #size = 0;
  /** The last bytes of the pieces so far: the end may lie across two. */
  #tail: Buffer = NOTHING;
  #firstLineSeen = false;

  constructor(rules: HeadRules<Head>) {
    this.#rules = rules;
  }

  /** Some of a head has come. */
  get begun(): boolean {
    return this.#size > 0;
  }

  /** The head once it is whole; undefined while more must come. */
  take(bytes: Buffer): FoundHead<Head> | undefined {
    const window = this.#tail.length === 0 ? bytes : Buffer.concat([this.#tail, bytes]);
    const at = window.indexOf(END, 0, 'latin1');
    if (at < 0) return this.#keep(bytes, window);
    const end = at + END.length - this.#tail.length;
    const size = this.#size + end;
    if (size > this.#rules.maxBytes) return this.#refuse(this.#rules.tooLarge);
    const all = this.#size === 0 ? bytes : Buffer.concat([...this.#pieces, bytes.subarray(0, end)]);
    const text = all.toString('latin1', 0, size - END.length);
    this.#pieces = [];
    this.#size = 0;
    this.#tail = NOTHING;
    this.#firstLineSeen = false;
    return { head: this.#rules.parse(text), rest: bytes.subarray(end), bytes: size };
  }

  /** What is wrong with a first line that will never end, where something is. */
  faultOfCutLine(): Head | undefined {
    if (!this.begun || this.#firstLineSeen) return undefined;
    return this.#rules.checkFirstLine(`${Buffer.concat(this.#pieces).toString('latin1')}\r`);
  }

  #keep(bytes: Buffer, window: Buffer): FoundHead<Head> | undefined {
    this.#pieces.push(bytes);
    this.#size += bytes.length;
    this.#tail = Buffer.from(window.subarray(-(END.length - 1)));
    if (this.#size > this.#rules.maxBytes) return this.#refuse(this.#rules.tooLarge);
    if (!this.#firstLineSeen && bytes.includes(LF)) {
      this.#firstLineSeen = true;
      const start = Buffer.concat(this.#pieces);
      const wrong = this.#rules.checkFirstLine(start.toString('latin1', 0, start.indexOf(LF)));
      if (wrong !== undefined) return this.#refuse(wrong);
    }
    return undefined;
  }

  #refuse(head: Head): FoundHead<Head> {
    return { head, rest: NOTHING, bytes: this.#size };
  }
}
