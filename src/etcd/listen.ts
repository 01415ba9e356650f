// The sockets that an etcd is served on: TCP and Unix, plain and TLS. A client that begins with HTTP/2's preface speaks HTTP/2,
// any other HTTP/1.1; with TLS they agree on it before.
import fs from 'node:fs';
import net, { type AddressInfo, type Socket } from 'node:net';
import tls, { type TLSSocket, type TlsOptions } from 'node:tls';
import type { HttpHandler } from '../lib/http/http.js';
import { createHttp1 } from '../wire/http1.js';
import { createHttp2 } from '../wire/http2.js';
import { GRPC_BODY_ERRORS } from './grpc/server.js';

/** etcd has no limit; a client that wants more at once waits, or opens another connection. */
const MAX_STREAMS = 4096;
const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
const KEEP_ALIVE_MS = 180_000;

export type ListenAddress =
  | { readonly host: string; readonly port: number; readonly tls?: ServingTls | undefined }
  | { readonly socketPath: string; readonly tls?: ServingTls | undefined };

export interface ServingTls {
  readonly options: TlsOptions;
  /** Calls with what is to be used for the connections that follow, whenever that changes; answers how to end it. */
  readonly follow?: (use: (options: TlsOptions) => void) => () => void;
}

export interface EtcdListener {
  /** Of a TCP address; 0 for a Unix socket. */
  readonly ports: readonly number[];
  /** No new connections, and an end of those that are open when their calls are over, or by force after this time. */
  close(timeoutMs: number): Promise<void>;
}

export async function listenForClients(
  addresses: readonly ListenAddress[],
  { handler, onError }: { readonly handler: HttpHandler; readonly onError: (error: unknown) => void },
): Promise<EtcdListener> {
  const serving = { bodyErrors: GRPC_BODY_ERRORS, handler, onError };
  const http1 = createHttp1(serving);
  const http2 = createHttp2({ maxStreamsPerConnection: MAX_STREAMS, ...serving });
  const sockets = new Set<Socket>();
  const servers: net.Server[] = [];
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
  };
  const acceptPlain = (socket: Socket): void => {
    keep(socket);
    probe(socket, (isHttp2) => (isHttp2 ? http2 : http1).accept(socket));
  };
  const acceptSecure = (socket: TLSSocket): void => {
    keep(socket);
    socket.disableRenegotiation();
    (socket.alpnProtocol === 'h2' ? http2 : http1).accept(socket);
  };
  const ports: number[] = [];
  const endings: (() => void)[] = [];
  for (const address of addresses) {
    const options = { noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS };
    const server =
      address.tls === undefined
        ? net.createServer(options, acceptPlain)
        : secureServer(options, address.tls, acceptSecure, endings);
    await bind(server, address);
    servers.push(server);
    ports.push('port' in address ? (server.address() as AddressInfo).port : 0);
  }
  return {
    ports,
    async close(timeoutMs) {
      const closed = servers.map((server) => new Promise((resolve) => server.close(resolve)));
      for (const end of endings) end();
      http1.retire();
      http2.retire();
      const timer = setTimeout(() => sockets.forEach((socket) => socket.destroy()), timeoutMs);
      await Promise.all(closed);
      clearTimeout(timer);
    },
  };
}

function secureServer(
  options: net.ServerOpts,
  { options: first, follow }: ServingTls,
  accept: (socket: TLSSocket) => void,
  endings: (() => void)[],
): tls.Server {
  const server = tls.createServer({ ...options, ...first, ALPNProtocols: ['h2', 'http/1.1'] }, accept);
  const end = follow?.((changed) => server.setSecureContext(changed));
  if (end !== undefined) endings.push(end);
  return server;
}

/** Looks at what the client sends first, and puts it back. */
function probe(socket: Socket, found: (isHttp2: boolean) => void): void {
  let seen = Buffer.alloc(0);
  const look = (chunk: Buffer): void => {
    seen = Buffer.concat([seen, chunk]);
    const length = Math.min(seen.length, PREFACE.length);
    const isSame = seen.subarray(0, length).equals(PREFACE.subarray(0, length));
    if (isSame && length < PREFACE.length) return;
    socket.off('data', look);
    socket.pause();
    socket.unshift(seen);
    found(isSame);
    socket.resume();
  };
  socket.on('data', look);
}

async function bind(server: net.Server, address: ListenAddress): Promise<void> {
  if ('socketPath' in address) removeStaleSocket(address.socketPath);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    const listening = (): void => {
      server.off('error', reject);
      resolve();
    };
    if ('socketPath' in address) server.listen(address.socketPath, listening);
    else server.listen({ host: address.host, port: address.port, backlog: 4096 }, listening);
  });
  // Whoever may open the socket may read and write everything.
  if ('socketPath' in address) fs.chmodSync(address.socketPath, 0o600);
}

/** A process that was killed leaves its socket behind. The data folder's lock says that no other process has it. */
function removeStaleSocket(socketPath: string): void {
  if (fs.statSync(socketPath, { throwIfNoEntry: false })?.isSocket()) fs.rmSync(socketPath);
}
