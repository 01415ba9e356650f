// Who is at the other end of a connection.
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';

/** The client's chain as sent, leaf first; read from TLS on first use, once for each connection. */
export type PeerCertificates = () => readonly Buffer[];

/** `192.0.2.1:80` or `[2001:db8::1]:80`; IPv4 looks the same over a socket of both families. */
export const peerAddressOf = ({ remoteAddress = '', remotePort = 0 }: Socket): string =>
  joined(remoteAddress, remotePort);

export const localAddressOf = ({ localAddress = '', localPort = 0 }: Socket): string => joined(localAddress, localPort);

function joined(address: string, port: number): string {
  if (address.startsWith('::ffff:')) return `${address.slice(7)}:${port}`;
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
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
