// Who is at the other end of a connection.
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';

/** The client's chain as it sent it, leaf first; asked of TLS once for each connection, and only when wanted. */
export type PeerCertificates = () => readonly Buffer[];

/** `192.0.2.1:80` or `[2001:db8::1]:80`; IPv4 looks the same over a socket of both families. */
export function peerAddressOf({ remoteAddress = '', remotePort = 0 }: Socket): string {
  if (remoteAddress.startsWith('::ffff:')) return `${remoteAddress.slice(7)}:${remotePort}`;
  return remoteAddress.includes(':') ? `[${remoteAddress}]:${remotePort}` : `${remoteAddress}:${remotePort}`;
}

const MAX_CHAIN_LENGTH = 10;
const NONE: readonly Buffer[] = [];

export function peerCertificatesOf(socket: TLSSocket): PeerCertificates {
  let chain: readonly Buffer[] | undefined;
  return () => (chain ??= readChain(socket));
}

function readChain(socket: TLSSocket): readonly Buffer[] {
  if (typeof socket.getPeerX509Certificate !== 'function') return NONE;
  const chain: Buffer[] = [];
  let certificate = socket.getPeerX509Certificate();
  while (certificate !== undefined && chain.length < MAX_CHAIN_LENGTH) {
    chain.push(certificate.raw);
    certificate = certificate.issuerCertificate;
  }
  return chain;
}
