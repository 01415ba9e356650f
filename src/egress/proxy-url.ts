// The way through the proxy that a client configuration names (`proxy-url`): by HTTP CONNECT or by SOCKS 5.
import type { Duplex } from 'node:stream';
import { type ClientTls, handshake } from '../outbound/client-tls.js';
import { addressOf, type Dialer } from '../outbound/dialer.js';
import { targetOf } from '../outbound/target.js';
import { tunnel } from './http-connect.js';
import { socksTunnel } from './socks.js';

export const PROXY_SCHEMES = ['http', 'https', 'socks5'];

const SOCKS_PORT = 1080;

/** `proxy` has one of the schemes above. TLS with it is as with the server behind it, the name it must show included. */
export function throughProxy(proxy: URL, dialer: Dialer, tls: () => ClientTls): Dialer {
  const credentials = {
    username: decodeURIComponent(proxy.username),
    password: decodeURIComponent(proxy.password),
  };
  if (proxy.protocol === 'socks5:') {
    const at = { host: proxy.hostname.replace(/^\[|\]$/g, ''), port: Number(proxy.port || SOCKS_PORT) };
    return {
      dial: async (target, signal) => socksTunnel(await dialer.dial(at, signal), target, { credentials, signal }),
    };
  }
  const at = targetOf(proxy);
  const authorization = Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64');
  const headers = proxy.username === '' ? '' : `Proxy-Authorization: Basic ${authorization}\r\n`;
  const reach = async (signal: AbortSignal): Promise<Duplex> => {
    const connection = await dialer.dial(at, signal);
    return proxy.protocol === 'https:'
      ? handshake(connection, { tls: tls(), host: at.host, protocols: [], signal })
      : connection;
  };
  return {
    dial: async (target, signal) => tunnel(await reach(signal), { proxy: addressOf(at), target, signal, headers }),
  };
}
