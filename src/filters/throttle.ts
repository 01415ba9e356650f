// `--max-connection-bytes-per-sec`: how fast a long-running answer may flow to one client.
import { isStream, type HttpResponse, type ResponseSink } from '../lib/http/http.js';
import { whenReady } from '../lib/async/maybe-promise.js';
import { Pace } from '../lib/async/pace.js';
import { pause } from '../lib/async/pause.js';
import { whenGone } from '../lib/async/when-aborted.js';
import type { Filter } from './exchange.js';

/** No row when nothing is throttled. */
export function throttle(bytesPerSecond: number): Filter | undefined {
  if (bytesPerSecond <= 0) return undefined;
  return (exchange, next) => {
    const answer = next(exchange);
    if (!exchange.longRunning) return answer;
    return whenReady(answer, (response: HttpResponse) => {
      const { body } = response;
      if (!isStream(body)) return response;
      return { ...response, body: { stream: (sink) => body.stream(new ThrottledSink(sink, bytesPerSecond)) } };
    });
  };
}

/** Asks the writer to wait until what it sent fits the rate. */
class ThrottledSink implements ResponseSink {
  readonly #pace: Pace;

  constructor(
    private readonly sink: ResponseSink,
    bytesPerSecond: number,
  ) {
    this.#pace = new Pace(bytesPerSecond);
  }

  get signal(): AbortSignal {
    return this.sink.signal;
  }

  whenGone(run: () => void): () => void {
    return whenGone(this.sink, run);
  }

  get pendingBytes(): number {
    return this.sink.pendingBytes;
  }

  write(chunk: Buffer | string): boolean {
    this.#pace.spend(chunk.length);
    return this.sink.write(chunk) && this.#pace.waitMs === 0;
  }

  trail(fields: HttpResponse['headers']): void {
    this.sink.trail?.(fields);
  }

  async drained(): Promise<void> {
    const { waitMs } = this.#pace;
    if (waitMs > 0) await pause(waitMs, this.signal);
    await this.sink.drained();
  }
}
