// A connection without sockets for the tests: bytes in, frames out.
import { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import type { HttpHandler } from '../../lib/http/http.js';
import { WriteScheduler } from '../../lib/scheduling/write-scheduler.js';
import { ByteWriter } from '../byte-writer.js';
import { HpackDecoder } from '../hpack/decoder.js';
import { HpackEncoder } from '../hpack/encoder.js';
import { Http2Connection } from './connection.js';
import { PREFACE } from './frame-reader.js';
import { Flag, FRAME_HEAD_BYTES, FrameType, putFrameHead, read31, read32 } from './frames.js';
import { BufferPool } from '../../lib/values/buffer-pool.js';
import { Reading } from '../reading.js';

export function frame(type: number, flags: number, stream: number, payload: Buffer | string = ''): Buffer {
  const bytes = typeof payload === 'string' ? Buffer.from(payload, 'latin1') : payload;
  const out = new ByteWriter();
  out.ensure(FRAME_HEAD_BYTES + bytes.length);
  putFrameHead(out, bytes.length, { type, flags, stream });
  out.put(bytes);
  return Buffer.from(out.bytes.subarray(0, out.at));
}

export const uint32 = (...values: number[]): Buffer => {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [i, value] of values.entries()) bytes.writeUInt32BE(value, i * 4);
  return bytes;
};

export function settings(values: Readonly<Record<number, number>> = {}): Buffer {
  const entries = Object.entries(values);
  const bytes = Buffer.alloc(entries.length * 6);
  for (const [i, [setting, value]] of entries.entries()) {
    bytes.writeUInt16BE(Number(setting), i * 6);
    bytes.writeUInt32BE(value, i * 6 + 2);
  }
  return frame(FrameType.settings, 0, 0, bytes);
}

export type Fields = readonly (readonly [string, string])[];

export const GET: Fields = [
  [':method', 'GET'],
  [':scheme', 'https'],
  [':path', '/'],
  [':authority', 'a'],
];
export const POST: Fields = [[':method', 'POST'], ...GET.slice(1)];

/** Without a table, so that blocks stand alone. */
export function block(fields: Fields): Buffer {
  const out = new ByteWriter();
  const encoder = new HpackEncoder(0);
  for (const [name, value] of fields) encoder.putField(out, name, value);
  return Buffer.from(out.bytes.subarray(0, out.at));
}

export const headers = (stream: number, fields: Fields = GET, flags: number = Flag.endStream): Buffer =>
  frame(FrameType.headers, flags | Flag.endHeaders, stream, block(fields));

export interface SeenFrame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
}

/** What one end has sent, as frames. */
export class FrameLog {
  readonly written: Buffer[] = [];
  readonly #decoder = new HpackDecoder();
  #frames: SeenFrame[] = [];
  #rest: Buffer;

  /** `skips`: so many bytes come before the first frame. */
  constructor(private skips = 0) {
    this.#rest = Buffer.alloc(0);
  }

  add(bytes: Buffer): void {
    this.written.push(Buffer.from(bytes));
    let rest = Buffer.concat([this.#rest, bytes]);
    const skipped = Math.min(this.skips, rest.length);
    this.skips -= skipped;
    rest = rest.subarray(skipped);
    while (rest.length >= FRAME_HEAD_BYTES) {
      const length = rest.readUIntBE(0, 3);
      if (rest.length < FRAME_HEAD_BYTES + length) break;
      this.#frames.push({
        type: rest[3] as number,
        flags: rest[4] as number,
        stream: read31(rest, 5),
        payload: Buffer.from(rest.subarray(FRAME_HEAD_BYTES, FRAME_HEAD_BYTES + length)),
      });
      rest = rest.subarray(FRAME_HEAD_BYTES + length);
    }
    this.#rest = rest;
  }

  /** The frames sent since the last call, apart from the server's first SETTINGS. */
  async frames(): Promise<SeenFrame[]> {
    for (let i = 0; i < 4; i++) await new Promise((resolve) => setImmediate(resolve));
    const frames = this.#frames;
    this.#frames = [];
    return frames.filter(({ type, stream }) => type !== FrameType.settings && !(type === 8 && stream === 0));
  }

  /** Each as a line: `HEADERS 1 200`, `DATA 1 text END`, `RESET 1 5`, `GOAWAY 1 7`; of headers the first value. */
  async lines(): Promise<string[]> {
    return (await this.frames()).map((seen) => this.describe(seen));
  }

  describe({ type, flags, stream, payload }: SeenFrame): string {
    const end = flags & Flag.endStream ? ' END' : '';
    switch (type) {
      case FrameType.headers: {
        const { fields } = this.#decoder.decode(payload, 1 << 20);
        return `HEADERS ${stream} ${fields[1]}${end}`;
      }
      case FrameType.data:
        return `DATA ${stream} ${payload.length > 20 ? payload.length : payload.toString()}${end}`;
      case FrameType.resetStream:
        return `RESET ${stream} ${read32(payload, 0)}`;
      case FrameType.goaway:
        return `GOAWAY ${read31(payload, 0)} ${read32(payload, 4)}`;
      case FrameType.windowUpdate:
        return `WINDOW ${stream} ${read32(payload, 0)}`;
      case FrameType.ping:
        return `PING ${flags} ${payload.toString()}`;
      default:
        return `${type} ${stream}`;
    }
  }

  /** The fields of a head. */
  fieldsOf({ payload }: SeenFrame): string[] {
    return this.#decoder.decode(payload, 1 << 20).fields;
  }
}

export class TestConnection {
  readonly errors: unknown[] = [];
  readonly connection: Http2Connection;
  readonly #socket: FakeSocket;
  readonly #log = new FrameLog();

  /** `greeted`: the client has said the first words already. */
  constructor(handler: HttpHandler, { maxStreams = 100, greeted = true, nowMs = (): number => 0 } = {}) {
    this.#socket = new FakeSocket((bytes) => this.#log.add(bytes));
    this.connection = new Http2Connection(this.#socket as unknown as TLSSocket, {
      maxStreams,
      handler,
      bodyErrors: { broken: (message) => new Error(message), tooLarge: (message) => new Error(message) },
      onError: (error) => this.errors.push(error),
      scheduler: new WriteScheduler(),
      reading: new Reading(nowMs),
      pool: new BufferPool(),
    });
    if (greeted) this.send(PREFACE, settings(), frame(FrameType.settings, Flag.ack, 0));
  }

  get written(): readonly Buffer[] {
    return this.#log.written;
  }

  /** Writes wait until `evict`. */
  hold(): void {
    this.#socket.held = true;
  }

  release(): void {
    this.#socket.release();
  }

  get paused(): boolean {
    return this.#socket.isPaused();
  }

  get ended(): boolean {
    return this.#socket.writableEnded || this.#socket.destroyed;
  }

  get destroyed(): boolean {
    return this.#socket.destroyed;
  }

  send(...bytes: readonly Buffer[]): void {
    this.#socket.emit('data', Buffer.concat(bytes));
  }

  /** In one piece each. */
  sendApart(...pieces: readonly Buffer[]): void {
    for (const piece of pieces) this.#socket.emit('data', piece);
  }

  hangUp(): void {
    this.#socket.destroy();
  }

  idle(): void {
    this.#socket.emit('timeout');
  }

  frames(): Promise<SeenFrame[]> {
    return this.#log.frames();
  }

  lines(): Promise<string[]> {
    return this.#log.lines();
  }

  describe(seen: SeenFrame): string {
    return this.#log.describe(seen);
  }

  fieldsOf(seen: SeenFrame): string[] {
    return this.#log.fieldsOf(seen);
  }
}

export class FakeSocket extends Duplex {
  readonly remoteAddress = '192.0.2.1';
  readonly remotePort = 1234;
  held = false;
  #done: (() => void) | undefined = undefined;

  constructor(private readonly onBytes: (bytes: Buffer) => void) {
    super({ autoDestroy: true });
  }

  release(): void {
    this.held = false;
    const done = this.#done;
    this.#done = undefined;
    done?.();
  }

  override _read(): void {
    // Tests emit `data` themselves.
  }

  override _write(bytes: Buffer, _encoding: string, done: () => void): void {
    this.onBytes(bytes);
    if (this.held) this.#done = done;
    else setImmediate(done);
  }
}
