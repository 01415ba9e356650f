// The secure port: accepts connections, agrees on TLS and a protocol, and hands on plain requests.
//
//   port → handshakes, a few at a time → tls.Server (the one with the certificate for the client) → HTTP/2 or HTTP/1.1 → handler
import type { Socket } from 'node:net';
import type { HttpHandler } from '../../lib/http/http.js';
import type { Logger } from '../../lib/telemetry/log.js';
import { createHttp1 } from '../../wire/http1.js';
import { createHttp2 } from '../../wire/http2.js';
import { BODY_ERRORS } from './body-errors.js';
import { Connections } from './connections.js';
import { Handshakes } from './handshakes.js';
import { type OpenPort, openPort, type PortOptions } from './port.js';
import { SecureServers } from './secure-servers.js';
import type { ServingCertificates } from './serving-certificates.js';

export interface ListenerOptions extends PortOptions {
  /** Opens where connections come from, where that is not the port itself. */
  readonly open?: (accept: (socket: Socket) => void) => OpenPort;
  readonly certificates: ServingCertificates;
  /** `--disable-http2-serving` */
  readonly disableHttp2?: boolean;
  /** `--http2-max-streams-per-connection`; 0 is the default of 100. */
  readonly http2MaxStreamsPerConnection?: number;
  readonly handler: HttpHandler;
  readonly log: Logger;
  readonly onTlsError?: () => void;
}

export interface Listener {
  readonly address: string;
  readonly port: number;
  /** Ends connections as they fall idle, those left after the time by force. */
  close(timeoutMs: number): Promise<void>;
}

const KEEP_ALIVE_MS = 180_000;
/** A connection without a finished handshake is closed after this time. */
const HANDSHAKE_TIMEOUT_MS = 32_000;

export async function listen(options: ListenerOptions): Promise<Listener> {
  const { certificates, handler, log } = options;
  const onError = (error: unknown): void => log.error(error, 'Request handling failed');
  const serving = { bodyErrors: BODY_ERRORS, handler, onError };
  const http1 = createHttp1(serving);
  const http2 = createHttp2({ maxStreamsPerConnection: options.http2MaxStreamsPerConnection ?? 0, ...serving });

  const connections = new Connections();
  const onFailure = (socket: Socket, why: string): void => {
    options.onTlsError?.();
    log.v(1)?.plain(`http: TLS handshake error from ${connections.addressOf(socket)}: ${why}`);
  };
  const secure = new SecureServers({
    certificates,
    disableHttp2: options.disableHttp2 === true,
    handshakeTimeoutMs: HANDSHAKE_TIMEOUT_MS,
    onSecure: (socket) => (socket.alpnProtocol === 'h2' ? http2 : http1).accept(socket),
    onFailure,
  });
  const handshakes = new Handshakes({
    begin: (socket, read) => secure.begin(socket, read),
    onFailure,
    timeoutMs: HANDSHAKE_TIMEOUT_MS,
  });
  const accept = (socket: Socket): void => {
    socket.setNoDelay(true).setKeepAlive(true, KEEP_ALIVE_MS);
    connections.add(socket);
    handshakes.accept(socket);
  };
  const front = options.open === undefined ? await openPort(options, accept) : options.open(accept);

  return {
    address: front.address,
    port: front.port,
    async close(timeoutMs) {
      front.close();
      http1.retire();
      http2.retire();
      await connections.ended(timeoutMs);
      certificates.close();
    },
  };
}
