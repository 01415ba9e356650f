import fs from 'node:fs';
import type { ClientTls } from '../../outbound/client-tls.js';
import type { Dialer } from '../../outbound/dialer.js';
import { GrpcConnection, type GrpcOptions } from '../../outbound/grpc.js';

export interface ConnectOptions {
  readonly caFile?: string;
  readonly certFile?: string;
  readonly keyFile?: string;
  readonly dialer: Dialer;
}

const UNIX = 'unix://';

/** Connects to the etcd member at a URL; `unix://PATH` is a socket, without TLS. Every connection reads the files again, so that renewed certificates apply. */
export const connectMember = (
  url: string,
  options: ConnectOptions,
  grpc: Pick<GrpcOptions, 'onFlush'> = {},
): Promise<GrpcConnection> =>
  GrpcConnection.open(
    url.startsWith(UNIX)
      ? { unixPath: url.slice(UNIX.length) }
      : { url, tls: clientTls(options), dialer: options.dialer },
    grpc,
  );

const clientTls = ({ caFile, certFile, keyFile }: ConnectOptions): ClientTls => ({
  ...(caFile ? { ca: fs.readFileSync(caFile) } : {}),
  ...(certFile ? { cert: fs.readFileSync(certFile) } : {}),
  ...(keyFile ? { key: fs.readFileSync(keyFile) } : {}),
});
