// A body sent in chunks: sizes in hexadecimal, each on a line, the last one 0, then trailers.
//
//   5\r\nhello\r\n 6;ext=1\r\n world\r\n 0\r\n X-Sum: 11\r\n\r\n
import { isBadField, parseFields } from './fields.js';

/** The bytes are no chunked body. */
export class MalformedChunks extends Error {}

const MAX_LINE_BYTES = 4096;
const MAX_TRAILER_BYTES = 64 * 1024;
/** What may be spent on lines beyond what any sender of so much data needs. */
const MAX_OVERHEAD_BYTES = 16 * 1024;
const USUAL_OVERHEAD_BYTES = 16;
const CR = 0x0d;
const LF = 0x0a;

type State = 'size' | 'data' | 'data-end' | 'trailer' | 'done';

export class ChunkedDecoder {
  #state: State = 'size';
  #left = 0;
  #line: number[] = [];
  #overheadBytes = 0;
  #trailerBytes = 0;
  #trailerLines: string[] | undefined = undefined;

  /** `keepsTrailers`: the caller reads and validates trailers. */
  constructor(private readonly keepsTrailers = false) {}

  get done(): boolean {
    return this.#state === 'done';
  }

  /** The lines after the last chunk, once it is done. */
  get trailerLines(): readonly string[] {
    return this.#trailerLines ?? [];
  }

  /** Hands on the data in `bytes`; answers how many bytes belonged to this body. */
  feed(bytes: Buffer, receive: (piece: Buffer) => void): number {
    let at = 0;
    while (at < bytes.length && this.#state !== 'done') {
      if (this.#state !== 'data') {
        this.#lineByte(bytes[at++] as number);
        continue;
      }
      const piece = bytes.subarray(at, at + this.#left);
      receive(piece);
      at += piece.length;
      this.#left -= piece.length;
      if (this.#left === 0) this.#state = 'data-end';
    }
    return at;
  }

  #lineByte(byte: number): void {
    const line = this.#line;
    if (byte !== LF) {
      if (line.length >= MAX_LINE_BYTES) throw new MalformedChunks('chunk line too long');
      line.push(byte);
      return;
    }
    if (line.pop() !== CR) throw new MalformedChunks('line without CR');
    const text = Buffer.from(line).toString('latin1');
    this.#line = [];
    this.#endOfLine(text);
  }

  #endOfLine(text: string): void {
    switch (this.#state) {
      case 'data-end':
        if (text !== '') throw new MalformedChunks('malformed chunked encoding');
        this.#state = 'size';
        return;
      case 'size': {
        this.#left = sizeOf(text);
        this.#overheadBytes = Math.max(
          0,
          this.#overheadBytes + text.length + 2 - USUAL_OVERHEAD_BYTES - 2 * this.#left,
        );
        if (this.#overheadBytes > MAX_OVERHEAD_BYTES) throw new MalformedChunks('too much that is no data');
        this.#state = this.#left === 0 ? 'trailer' : 'data';
        return;
      }
      case 'trailer':
        this.#trailerBytes += text.length;
        if (this.#trailerBytes > MAX_TRAILER_BYTES) throw new MalformedChunks('trailers too long');
        if (text === '') this.#state = 'done';
        else if (this.keepsTrailers) (this.#trailerLines ??= []).push(text);
        else if (isBadField(parseFields(['', text]))) throw new MalformedChunks('malformed trailer');
        return;
      case 'data':
      case 'done':
    }
  }
}

function sizeOf(line: string): number {
  const semicolon = line.indexOf(';');
  const digits = semicolon < 0 ? line : line.slice(0, semicolon);
  if (!/^[0-9a-fA-F]{1,13}[ \t]*$/.test(digits)) throw new MalformedChunks('invalid byte in chunk length');
  return Number.parseInt(digits, 16);
}
