// Where --store-listen-url is.
export type StoreAddress = { readonly socketPath: string } | { readonly host: string; readonly port: number };

const UNIX = /^unix:\/\/(\/.+)$/;
const LOOPBACK = /^https:\/\/(?:(127\.\d{1,3}\.\d{1,3}\.\d{1,3})|\[(::1)\]):(\d{1,5})\/?$/;

/** Undefined for what may not be: the store is not for other machines. */
export function storeAddressOf(url: string): StoreAddress | undefined {
  const socketPath = UNIX.exec(url)?.[1];
  if (socketPath !== undefined) return { socketPath };
  const [, v4, v6, port] = LOOPBACK.exec(url) ?? [];
  const host = v4 ?? v6;
  return host === undefined || Number(port) > 65535 ? undefined : { host, port: Number(port) };
}
