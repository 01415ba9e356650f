export interface PeerAddress {
  readonly host: string;
  /** 0 where there is none. */
  readonly port: number;
}

/** `127.0.0.1:4711` and `[::1]:4711` split; a bare address stays whole. */
export function readPeerAddress(address: string): PeerAddress {
  const colon = address.lastIndexOf(':');
  if (address.startsWith('[')) {
    const end = address.indexOf(']');
    return { host: address.slice(1, end), port: Number(address.slice(Math.max(colon, end) + 1)) || 0 };
  }
  if (colon < 0 || colon !== address.indexOf(':')) return { host: address, port: 0 };
  return { host: address.slice(0, colon), port: Number(address.slice(colon + 1)) || 0 };
}
