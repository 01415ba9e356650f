// The secure port: accepts connections, agrees on TLS and a protocol, and hands on plain requests.
//
//   port → handshakes, a few at a time → tls.Server (the one for the address, if a certificate names it) → HTTP/2 or HTTP/1.1 → handler
import type { Socket } from 'node:net';
import tls, { type TLSSocket } from 'node:tls';
import type { HttpHandler } from '../../lib/http/http.js';
import type { Logger } from '../../lib/telemetry/log.js';
import { createHttp1 } from '../../wire/http1.js';
import { createHttp2 } from '../../wire/http2.js';
import { peerAddressOf } from '../../wire/peer.js';
import { BODY_ERRORS } from './body-errors.js';
import { Handshakes } from './handshakes.js';
import { type OpenPort, openPort, type PortOptions } from './port.js';
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

  const sockets = new Set<Socket>();
  // Noted as they come: of a connection that is gone the address is no longer known.
  const peers = new WeakMap<Socket, string>();
  const failed = (socket: Socket, why: string): void => {
    options.onTlsError?.();
    log.v(1)?.plain(`http: TLS handshake error from ${peers.get(socket)}: ${why}`);
  };
  const secure = (context: tls.TlsOptions): tls.Server => {
    const server = tls.createServer({
      ...context,
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
      ALPNProtocols: options.disableHttp2 === true ? ['http/1.1'] : ['h2', 'http/1.1'],
      SNICallback: (name, done) => done(null, certificates.contextFor(name)),
    });
    server.on('secureConnection', (socket: TLSSocket) => {
      socket.on('error', destroyOnError);
      socket.disableRenegotiation();
      forgetFailedVerification(socket);
      if (socket.alpnProtocol === 'h2') http2.accept(socket);
      else http1.accept(socket);
    });
    server.on('tlsClientError', (error, socket) => {
      const connection = connectionUnder(socket);
      failed(connection, error.message);
      if ((error as NodeJS.ErrnoException).code === 'ERR_SSL_HTTP_REQUEST') connection.end(PLAIN_HTTP_ANSWER);
      else socket.destroy();
    });
    return server;
  };
  const secureAll = (): { byDefault: tls.Server; byAddress: ReadonlyMap<string, tls.Server> } => ({
    byDefault: secure(certificates.defaultOptions()),
    byAddress: new Map([...certificates.addressOptions()].map(([address, context]) => [address, secure(context)])),
  });
  let servers = secureAll();
  certificates.onChange(() => {
    servers = secureAll();
  });

  const handshakes = new Handshakes({
    begin(socket) {
      const { byDefault, byAddress } = servers;
      const own = byAddress.size === 0 ? undefined : byAddress.get(plainAddress(socket.localAddress ?? ''));
      (own ?? byDefault).emit('connection', socket);
    },
    onFailure: failed,
    timeoutMs: HANDSHAKE_TIMEOUT_MS,
  });
  const accept = (socket: Socket): void => {
    socket.setNoDelay(true).setKeepAlive(true, KEEP_ALIVE_MS);
    sockets.add(socket);
    peers.set(socket, socket.remoteAddress === undefined ? 'a client that is gone' : peerAddressOf(socket));
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', NOTHING);
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
      await allClosed(sockets, timeoutMs);
      for (const socket of sockets) socket.destroy();
      certificates.close();
    },
  };
}

/** Of errors that end a connection, which is all there is to do about them. One for all: thousands are kept. */
const NOTHING = (): void => undefined;

/**
 * An error of TLS does not end a connection by itself. A client that renegotiates is one: its connection ends as it begins
 * to, because each time costs as much as a handshake.
 */
function destroyOnError(this: TLSSocket): void {
  this.destroy();
}

/**
 * OpenSSL keeps the failed check of a client's chain in its list of errors, where the next read of this connection
 * finds it and treats it as its own. Any other use of a certificate empties the list. Whether the client is believed
 * is decided by authentication, which answers 401 instead of cutting the line.
 */
function forgetFailedVerification(socket: TLSSocket): void {
  if (socket.authorized) return;
  const certificate = socket.getPeerX509Certificate();
  certificate?.checkIssued(certificate);
}

/** A client that forgot the `s` of https gets plain HTTP, the only answer that it understands. */
const PLAIN_HTTP_ANSWER = 'HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n';

/** The connection that TLS was begun on: Node passes its server's listeners the one under TLS only. */
const connectionUnder = (socket: TLSSocket): Socket =>
  (socket as TLSSocket & { readonly _parent?: Socket })._parent ?? socket;

const plainAddress = (address: string): string => (address.startsWith('::ffff:') ? address.slice(7) : address);

function allClosed(sockets: ReadonlySet<Socket>, timeoutMs: number): Promise<void> {
  if (sockets.size === 0) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, timeoutMs);
    for (const socket of sockets) {
      socket.on('close', () => {
        if (sockets.size > 0) return;
        clearTimeout(timer);
        resolve();
      });
    }
  });
}
