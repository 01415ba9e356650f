// What the frames of a server need of a client's connection.
import type { Clock } from '../../lib/async/clock.js';
import type { ClientStream, StreamLoss } from './client-stream.js';
import type { RuledConnection } from './frame-rules.js';

/** What the server sent in GOAWAY. */
export interface GoAway {
  readonly code: number;
  readonly debugData: string;
}

export interface ClientConnection extends RuledConnection<ClientStream> {
  readonly clock: Clock;
  /** Whether a request has begun on the stream. */
  hasBegun(id: number): boolean;
  /** Counts against the connection's flow-control window. */
  received(bytes: number): void;
  /** So many bytes of the stream's answer were consumed. */
  taken(stream: ClientStream, bytes: number): void;
  /** The answer has come to its end. */
  finish(stream: ClientStream): void;
  drop(stream: ClientStream, loss: StreamLoss): void;
  /** The server sent GOAWAY: it processes streams up to `lastStream` and no later ones. */
  left(lastStream: number, goAway: GoAway): void;
  pingAnswered(): void;
}
