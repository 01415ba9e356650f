// `--max-connection-bytes-per-sec`: how fast a long-running answer may flow to one client.
import { isStream, type HttpResponse, type ResponseSink } from '../lib/http.js';
import { whenReady } from '../lib/maybe-promise.js';
import { pause } from '../lib/pause.js';
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

/** Asks the writer to wait until what it sent fits the rate; the budget saved up is at most one second's. */
class ThrottledSink implements ResponseSink {
  private freeAtMs = performance.now();

  constructor(
    private readonly sink: ResponseSink,
    private readonly bytesPerSecond: number,
  ) {}

  get signal(): AbortSignal {
    return this.sink.signal;
  }

  get pendingBytes(): number {
    return this.sink.pendingBytes;
  }

  write(chunk: Buffer | string): boolean {
    const nowMs = performance.now();
    this.freeAtMs = Math.max(this.freeAtMs, nowMs - 1000) + (chunk.length / this.bytesPerSecond) * 1000;
    return this.sink.write(chunk) && this.freeAtMs <= nowMs;
  }

  async drained(): Promise<void> {
    const waitMs = this.freeAtMs - performance.now();
    if (waitMs > 0) await pause(waitMs, this.signal);
    await this.sink.drained();
  }
}
