// TLS on accepted connections: a tls.Server for each certificate. One server that changes its context by the name of the
// client would not do: Node adds a certificate with another type of key to the default one instead of replacing it, and
// OpenSSL may show either. Servers are made anew when the certificates change; connections keep what they began with.
import type { Socket } from 'node:net';
import tls, { type TLSSocket } from 'node:tls';
import type { ShownCertificate } from './choose-certificate.js';
import type { ClientHelloReader } from './client-hello.js';
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

export class SecureServers {
  #servers: ReadonlyMap<ShownCertificate, tls.Server>;

  constructor(private readonly options: SecureServersOptions) {
    this.#servers = this.#create();
    options.certificates.onChange(() => {
      this.#servers = this.#create();
    });
  }

  /** Begins the handshake with a client whose first bytes are there to be read, and were seen by the reader. */
  begin(socket: Socket, { hello }: Pick<ClientHelloReader, 'hello'>): void {
    const certificate = this.options.certificates.choose(
      this.#servers.size === 1 ? undefined : hello,
      plainAddress(socket.localAddress ?? ''),
    );
    this.#servers.get(certificate)?.emit('connection', socket);
  }

  #create(): ReadonlyMap<ShownCertificate, tls.Server> {
    return new Map(this.options.certificates.shown().map((each) => [each, this.#server(each.options)]));
  }

  #server(context: tls.TlsOptions): tls.Server {
    const { disableHttp2, handshakeTimeoutMs, onSecure, onFailure } = this.options;
    const server = tls.createServer({
      ...context,
      handshakeTimeout: handshakeTimeoutMs,
      ALPNProtocols: disableHttp2 ? ['http/1.1'] : ['h2', 'http/1.1'],
    });
    server.on('secureConnection', (socket: TLSSocket) => {
      socket.on('error', destroyOnError);
      socket.disableRenegotiation();
      forgetFailedVerification(socket);
      forgetProtocols(socket);
      forgetTimer(socket);
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

/**
 * Node keeps its own copy of the offered protocols with each connection, and with those few bytes the 64 KiB of its pool
 * that they lie in. One is agreed on by now.
 */
function forgetProtocols(socket: TLSSocket): void {
  const { _tlsOptions: options } = socket as { readonly _tlsOptions?: { ALPNProtocols?: Uint8Array | undefined } };
  if (options !== undefined) options.ALPNProtocols = undefined;
}

/** Node clears the timer of the handshake, but keeps it, and sets it anew at each read and write. */
function forgetTimer(socket: TLSSocket): void {
  const name = Object.getOwnPropertySymbols(socket).find(({ description }) => description === 'timeout');
  if (name !== undefined) Object.assign(socket, { [name]: null });
}

/** A client that forgot the `s` of https gets plain HTTP, the only answer that it understands. */
const PLAIN_HTTP_ANSWER = 'HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n';

/** The connection that TLS was begun on: Node passes its server's listeners the one under TLS only. */
const connectionUnder = (socket: TLSSocket): Socket =>
  (socket as TLSSocket & { readonly _parent?: Socket })._parent ?? socket;

const plainAddress = (address: string): string => (address.startsWith('::ffff:') ? address.slice(7) : address);
