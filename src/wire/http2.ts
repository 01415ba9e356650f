// HTTP/2: sockets become connections, streams plain requests, and plain answers frames. Why not Node's own is in
// docs/decisions/0015-http2.md.
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { HttpHandler } from '../lib/http/http.js';
import { writeScheduler } from '../lib/scheduling/write-scheduler.js';
import { BufferPool } from '../lib/values/buffer-pool.js';
import type { BodyErrors } from './body-errors.js';
import { Http2Connection } from './http2/connection.js';
import { Reading } from './reading.js';

const DEFAULT_MAX_STREAMS = 100;

export interface Http2Options {
  /** 0 is the default of 100. */
  readonly maxStreamsPerConnection: number;
  readonly bodyErrors: BodyErrors;
  readonly handler: HttpHandler;
  readonly onError: (error: unknown) => void;
}

/**
 * Accepts sockets whose clients speak HTTP/2: they negotiated h2, or begin with its preface. The caller handles their errors. `retire` sends GOAWAY on open connections, so
 * that clients begin no more streams on them.
 */
export function createHttp2({ maxStreamsPerConnection, bodyErrors, handler, onError }: Http2Options): {
  accept(socket: TLSSocket | Socket): void;
  retire(): void;
} {
  const maxStreams = maxStreamsPerConnection > 0 ? maxStreamsPerConnection : DEFAULT_MAX_STREAMS;
  const connections = new Set<Http2Connection>();
  const onGone = (connection: Http2Connection): void => void connections.delete(connection);
  const reading = new Reading(() => performance.now());
  const options = {
    maxStreams,
    bodyErrors,
    handler,
    onError,
    onGone,
    scheduler: writeScheduler,
    reading,
    pool: new BufferPool(),
  };
  return {
    accept(socket) {
      connections.add(new Http2Connection(socket, options));
    },
    retire() {
      for (const connection of connections) connection.retire();
    },
  };
}
