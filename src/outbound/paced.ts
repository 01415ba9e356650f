// A connection that is used no faster than a rate, each way: exec, attach and port-forward may be held to one.
import { Duplex } from 'node:stream';
import { Pace } from '../lib/async/pace.js';

export class PacedConnection extends Duplex {
  readonly #inner: Duplex;
  readonly #reading: Pace;
  readonly #writing: Pace;
  readonly #timers = new Set<NodeJS.Timeout>();

  constructor(inner: Duplex, bytesPerSecond: number) {
    super();
    this.#inner = inner;
    this.#reading = new Pace(bytesPerSecond);
    this.#writing = new Pace(bytesPerSecond);
    inner.pause();
    inner.on('data', (chunk: Buffer) => {
      // The inner stream stays paused until `_read`.
      inner.pause();
      this.#reading.spend(chunk.length);
      this.push(chunk);
    });
    inner.once('end', () => this.push(null));
    inner.on('error', (error) => this.destroy(error));
    inner.once('close', () => inner.readableEnded || this.destroy());
  }

  override _read(): void {
    this.#later(this.#reading.waitMs, () => this.#inner.resume());
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#writing.spend(chunk.length);
    this.#inner.write(chunk, (error) => {
      if (error) done(error);
      else this.#later(this.#writing.waitMs, done);
    });
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#inner.end(() => done());
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#inner.destroy();
    done(error);
  }

  #later(ms: number, next: () => void): void {
    if (ms === 0) return next();
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      next();
    }, ms);
    this.#timers.add(timer);
  }
}
