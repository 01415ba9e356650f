// Watches that end early, or whose events come late.
import { Abortable } from '../lib/async/abortable.js';
import { pause } from '../lib/async/pause.js';
import { whenGone } from '../lib/async/when-aborted.js';
import { type HttpResponse, isStream, type ResponseSink } from '../lib/http/http.js';
import type { Fault } from './fault-rules.js';

export function faultyWatch(response: HttpResponse, faults: readonly Fault[]): HttpResponse {
  const { body } = response;
  if (!isStream(body)) return response;
  return {
    ...response,
    body: {
      async stream(sink) {
        const faulty = new FaultySink(sink, faults);
        try {
          await body.stream(faulty);
        } catch (error) {
          if (!faulty.signal.aborted) throw error;
        }
        await faulty.flush();
      },
    },
  };
}

/** Most that waits to be sent: a client that is slower than that is asked to wait. */
const MAX_HELD_BYTES = 1024 * 1024;

class FaultySink extends Abortable implements ResponseSink {
  readonly #sink: ResponseSink;
  readonly #delayMs: number;
  /** What was written last is on its way, and what was written before it. */
  #sent: Promise<void> = Promise.resolve();
  #heldBytes = 0;

  constructor(sink: ResponseSink, faults: readonly Fault[]) {
    super();
    this.#sink = sink;
    this.#delayMs = faults.reduce((ms, fault) => ms + (fault.kind === 'delay-watch' ? fault.delayMs : 0), 0);
    whenGone(sink, () => this.stop(new Error('the client is gone')));
    for (const fault of faults) if (fault.kind === 'drop-watch') this.#dropAfter(fault.afterMs);
  }

  #dropAfter(afterMs: number): void {
    void pause(afterMs, this.#sink.signal).then(() => this.stop(new Error('the watch is dropped')));
  }

  whenGone(run: () => void): () => void {
    return this.whenStopped(run);
  }

  trail(fields: HttpResponse['headers']): void {
    this.#sink.trail?.(fields);
  }

  get pendingBytes(): number {
    return this.#heldBytes + this.#sink.pendingBytes;
  }

  write(chunk: Buffer | string): boolean {
    if (this.#delayMs === 0) return this.#sink.write(chunk);
    // The writer may use the memory again.
    const held = Buffer.from(chunk);
    this.#heldBytes += held.length;
    const due = pause(this.#delayMs, this.#sink.signal);
    this.#sent = Promise.all([this.#sent, due]).then(() => {
      this.#heldBytes -= held.length;
      if (!this.signal.aborted) this.#sink.write(held);
    });
    return this.#heldBytes < MAX_HELD_BYTES;
  }

  async drained(): Promise<void> {
    await this.#sent;
    await this.#sink.drained();
  }

  flush(): Promise<void> {
    return this.#sent;
  }
}
