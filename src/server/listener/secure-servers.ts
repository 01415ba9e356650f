// TLS on accepted connections: a tls.Server for the default certificate, and one for each address that a certificate
// names. Both are made anew when the certificates change; connections keep what they began with.
import type { Socket } from 'node:net';
import tls, { type TLSSocket } from 'node:tls';
import type { ServingCertificates } from './serving-certificates.js';

export interface SecureServersOptions {
  readonly certificates: ServingCertificates;
  readonly disableHttp2: boolean;
  readonly handshakeTimeoutMs: number;
  /** The handshake is done: the socket has agreed on a protocol. */
  readonly onSecure: (socket: TLSSocket) => void;
  /** The handshake on this connection failed. */
  readonly onFailure: (connection: Socket, why: string) => void;
}

interface Servers {
  readonly byDefault: tls.Server;
  readonly byAddress: ReadonlyMap<string, tls.Server>;
}

export class SecureServers {
  #servers: Servers;

  constructor(private readonly options: SecureServersOptions) {
    this.#servers = this.#create();
    options.certificates.onChange(() => {
      this.#servers = this.#create();
    });
  }

  /** Begins the handshake. */
  begin(socket: Socket): void {
    const { byDefault, byAddress } = this.#servers;
    const own = byAddress.size === 0 ? undefined : byAddress.get(plainAddress(socket.localAddress ?? ''));
    (own ?? byDefault).emit('connection', socket);
  }

  #create(): Servers {
    const { certificates } = this.options;
    const forAddresses = [...certificates.addressOptions()];
    return {
      byDefault: this.#server(certificates.defaultOptions()),
      byAddress: new Map(forAddresses.map(([address, context]) => [address, this.#server(context)])),
    };
  }

  #server(context: tls.TlsOptions): tls.Server {
    const { certificates, disableHttp2, handshakeTimeoutMs, onSecure, onFailure } = this.options;
    const server = tls.createServer({
      ...context,
      handshakeTimeout: handshakeTimeoutMs,
      ALPNProtocols: disableHttp2 ? ['http/1.1'] : ['h2', 'http/1.1'],
      SNICallback: (name, done) => done(null, certificates.contextFor(name)),
    });
    server.on('secureConnection', (socket: TLSSocket) => {
      socket.on('error', destroyOnError);
      socket.disableRenegotiation();
      forgetFailedVerification(socket);
      onSecure(socket);
    });
    server.on('tlsClientError', (error, socket) => {
      const connection = connectionUnder(socket);
      onFailure(connection, error.message);
      if ((error as NodeJS.ErrnoException).code === 'ERR_SSL_HTTP_REQUEST') connection.end(PLAIN_HTTP_ANSWER);
      else socket.destroy();
    });
    return server;
  }
}

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
