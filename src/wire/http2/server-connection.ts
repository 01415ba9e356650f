// What the parts of a server's connection need of it: the frames that a client sends, and serving its requests.
import type { TransientMap } from '../../lib/values/transient-map.js';
import type { RuledConnection } from './frame-rules.js';
import type { Http2Stream, StreamOwner } from './stream.js';

export interface ServerConnection extends RuledConnection<Http2Stream>, StreamOwner {
  /** GOAWAY was sent: the client may begin no more streams. */
  readonly retired: boolean;
  /** Streams that outlast the event-loop turn in which they began. */
  readonly streams: TransientMap<number, Http2Stream>;
  /** Counts a request that begins; the frames after it may have to wait. */
  begins(): void;
  /** Counts against the connection's flow-control window. */
  received(bytes: number): void;
  /** Whether this end reset the stream: the client may still send frames on it. */
  wasReset(id: number): boolean;
  /** The end of the answer was written. */
  answered(stream: Http2Stream): void;
  /** Closes a stream; `gone` aborts its request. */
  forget(stream: Http2Stream, gone: Error | undefined, reset?: number): void;
  /** Sends GOAWAY and ends when the requests in flight have ended. */
  retire(): void;
}
