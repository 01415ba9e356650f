// HTTP/1.1: sockets become connections, and connections plain requests and answers.
//
// Node's own server is more lenient than kube-apiserver (doubled spaces, two hosts, blank lines before a request), accepts
// only some methods, and decides on upgrades before a handler sees the request; see docs/decisions/0013-http1.md.
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { HttpHandler } from '../lib/http/http.js';
import type { BodyErrors } from './body-errors.js';
import { Http1Connection } from './http1/connection.js';
import { Reading } from './reading.js';

export interface Http1Options {
  readonly bodyErrors: BodyErrors;
  readonly handler: HttpHandler;
  readonly onError: (error: unknown) => void;
}

/** Accepts sockets, TLS or plain. After `retire` every answer closes its connection. */
export function createHttp1({ bodyErrors, handler, onError }: Http1Options): {
  accept(socket: TLSSocket | Socket): void;
  retire(): void;
} {
  let retired = false;
  const connections = new Set<Http1Connection>();
  const reading = new Reading(() => performance.now());
  const options = { bodyErrors, handler, onError, reading, retired: (): boolean => retired };
  return {
    accept(socket) {
      const connection = new Http1Connection(socket, options);
      connections.add(connection);
      socket.once('close', () => connections.delete(connection));
      socket.on('error', () => undefined);
    },
    retire() {
      retired = true;
      for (const connection of connections) connection.retire();
    },
  };
}
