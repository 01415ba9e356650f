import type { HttpResponse, ResponseSink } from '../../lib/http/http.js';
import type { Http2Stream } from './stream.js';

/** The most bytes that are queued before `write` returns false. */
const HIGH_WATER_BYTES = 16 * 1024;

/** Where a streamed answer is written to. Pieces of one event-loop turn share a frame. */
export class Http2Sink implements ResponseSink {
  constructor(
    private readonly stream: Http2Stream,
    private readonly onWritten: (stream: Http2Stream) => void,
  ) {}

  get signal(): AbortSignal {
    return this.stream.signal;
  }

  whenGone(run: () => void): () => void {
    return this.stream.whenStopped(run);
  }

  get pendingBytes(): number {
    return this.stream.pendingBytes;
  }

  // hot: for each event and watcher.
  write(chunk: Buffer | string): boolean {
    const { stream } = this;
    if (stream.closed) return false;
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk, 'utf8') : chunk;
    if (bytes.length > 0) {
      stream.enqueue(bytes);
      this.onWritten(stream);
    }
    return stream.pendingBytes < HIGH_WATER_BYTES;
  }

  last(): void {
    this.stream.finished = true;
  }

  trail(fields: HttpResponse['headers']): void {
    this.stream.trailers = fields;
  }

  drained(): Promise<void> {
    return this.stream.drained();
  }
}
