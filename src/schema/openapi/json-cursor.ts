// Reads a JSON text member by member, so that a large document need not be parsed in one go: the cursor finds where
// values end, and what is wanted of them is parsed piece by piece.
//
//   {"paths":{"/a":{…},"/b":{…}},"info":{…}}
//   enter() nextName() = paths, enter() nextName() = /a, value() = {…}, nextName() = /b, value() …

export class JsonTextError extends Error {}

export interface JsonCursorLimits {
  /** Of a value that is read whole. */
  readonly maxValueBytes: number;
  readonly maxDepth: number;
}

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d];

export class JsonCursor {
  readonly #bytes: Buffer;
  readonly #limits: JsonCursorLimits;
  #at = 0;
  /** The object was just entered: no comma comes before its first member. */
  #first = false;

  constructor(bytes: Buffer, limits: JsonCursorLimits) {
    this.#bytes = bytes;
    this.#limits = limits;
  }

  /** Steps into the object that comes next; false, and past it, where it is null. */
  enter(): boolean {
    this.#skipSpace();
    if (this.#bytes[this.#at] === OPEN_OBJECT) {
      this.#at++;
      this.#first = true;
      return true;
    }
    if (this.value() === null) return false;
    throw new JsonTextError('an object was expected');
  }

  /** The next member's name; undefined at the object's end, which is then left. */
  nextName(): string | undefined {
    this.#skipSpace();
    if (this.#bytes[this.#at] === CLOSE_OBJECT) {
      this.#at++;
      this.#first = false;
      return undefined;
    }
    if (!this.#first) this.#expect(COMMA);
    this.#first = false;
    this.#skipSpace();
    const start = this.#at;
    this.#skipText();
    const name = parsed(this.#bytes, start, this.#at);
    this.#skipSpace();
    this.#expect(COLON);
    return String(name);
  }

  value(): unknown {
    this.#skipSpace();
    const start = this.#at;
    this.#skipValue(start + this.#limits.maxValueBytes);
    return parsed(this.#bytes, start, this.#at);
  }

  /** Nothing but space may follow the document. */
  end(): void {
    this.#skipSpace();
    if (this.#at !== this.#bytes.length) throw new JsonTextError('something follows the document');
  }

  #skipValue(limit: number): void {
    let depth = 0;
    do {
      const byte = this.#bytes[this.#at];
      if (byte === undefined) throw new JsonTextError('unexpected end');
      if (this.#at >= limit) throw new JsonTextError('a value is too large');
      if (byte === QUOTE) this.#skipText();
      else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
        if (++depth > this.#limits.maxDepth) throw new JsonTextError('nested too deeply');
        this.#at++;
      } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
        depth--;
        this.#at++;
      } else if (depth > 0) this.#at++;
      else this.#skipWord();
    } while (depth > 0);
    if (depth < 0) throw new JsonTextError('a value was expected');
    if (this.#at > limit) throw new JsonTextError('a value is too large');
  }

  #skipWord(): void {
    const start = this.#at;
    for (; this.#at < this.#bytes.length; this.#at++) {
      const byte = this.#bytes[this.#at] ?? 0;
      if (byte <= 0x20 || byte === COMMA || byte === CLOSE_OBJECT || byte === CLOSE_LIST) break;
    }
    if (this.#at === start) throw new JsonTextError('a value was expected');
  }

  #skipText(): void {
    this.#expect(QUOTE);
    for (;;) {
      const end = this.#bytes.indexOf(QUOTE, this.#at);
      if (end === -1) throw new JsonTextError('a text does not end');
      let escapes = 0;
      while (this.#bytes[end - 1 - escapes] === BACKSLASH && end - 1 - escapes >= this.#at) escapes++;
      this.#at = end + 1;
      if (escapes % 2 === 0) return;
    }
  }

  #skipSpace(): void {
    while ((this.#bytes[this.#at] ?? 0x21) <= 0x20) this.#at++;
  }

  #expect(byte: number): void {
    if (this.#bytes[this.#at] !== byte) throw new JsonTextError(`${String.fromCharCode(byte)} was expected`);
    this.#at++;
  }
}

function parsed(bytes: Buffer, start: number, end: number): unknown {
  try {
    return JSON.parse(bytes.toString('utf8', start, end));
  } catch {
    throw new JsonTextError('a value is not JSON');
  }
}
