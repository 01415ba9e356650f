// SOCKS 5 (RFC 1928, RFC 1929), as far as a client needs it: one connection through a proxy.
import net from 'node:net';
import type { Duplex } from 'node:stream';
import type { DialTarget } from '../outbound/dialer.js';
import { OutboundError } from '../outbound/outbound-error.js';

export interface SocksOptions {
  readonly credentials: { readonly username: string; readonly password: string };
  readonly signal: AbortSignal;
}

const VERSION = 5;
const [NO_AUTHENTICATION, USERNAME_AND_PASSWORD] = [0, 2];
const CONNECT = 1;
const [IPV4, NAME, IPV6] = [1, 3, 4];
const FAILURES: Readonly<Record<number, string>> = {
  1: 'general SOCKS server failure',
  2: 'connection not allowed by ruleset',
  3: 'network unreachable',
  4: 'host unreachable',
  5: 'connection refused',
  6: 'TTL expired',
  7: 'command not supported',
  8: 'address type not supported',
};

/** The proxy's connection, once it leads to the target. Rejects with an OutboundError. */
export async function socksTunnel(
  connection: Duplex,
  target: DialTarget,
  { credentials: { username, password }, signal }: SocksOptions,
): Promise<Duplex> {
  const stop = (): void => void connection.destroy();
  signal.addEventListener('abort', stop, { once: true });
  try {
    const methods = username === '' ? [NO_AUTHENTICATION] : [NO_AUTHENTICATION, USERNAME_AND_PASSWORD];
    connection.write(Buffer.from([VERSION, methods.length, ...methods]));
    const [version, method] = await readBytes(connection, 2);
    if (version !== VERSION) throw failed(`unexpected protocol version ${version}`);
    if (method === USERNAME_AND_PASSWORD) {
      connection.write(Buffer.from([1, ...counted(username), ...counted(password)]));
      const [, refused] = await readBytes(connection, 2);
      if (refused !== 0) throw failed('username/password authentication failed');
    } else if (method !== NO_AUTHENTICATION) throw failed('no acceptable authentication methods');
    const port = [target.port >> 8, target.port & 0xff];
    connection.write(Buffer.from([VERSION, CONNECT, 0, ...addressBytes(target.host), ...port]));
    const [, reply = 1, , type = IPV4] = await readBytes(connection, 4);
    if (reply !== 0) throw failed(FAILURES[reply] ?? `unknown code: ${reply}`);
    const length = type === IPV4 ? 4 : type === IPV6 ? 16 : ((await readBytes(connection, 1))[0] ?? 0);
    await readBytes(connection, length + 2);
    return connection;
  } catch (error) {
    connection.on('error', () => undefined).destroy();
    throw signal.aborted ? OutboundError.aborted(signal) : OutboundError.from(error);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

const failed = (why: string): OutboundError => new OutboundError('dial', `socks connect: ${why}`);

function counted(text: string): number[] {
  const bytes = [...Buffer.from(text)];
  if (bytes.length === 0 || bytes.length > 255) throw failed('invalid username/password');
  return [bytes.length, ...bytes];
}

function addressBytes(host: string): number[] {
  if (net.isIPv4(host)) return [IPV4, ...host.split('.').map(Number)];
  if (net.isIPv6(host)) {
    const groups = new net.SocketAddress({ address: host, family: 'ipv6' }).address.split('::');
    const [before = [], after = []] = groups.map((part) => (part === '' ? [] : part.split(':')));
    const zeros = groups.length === 1 ? [] : Array<string>(8 - before.length - after.length).fill('0');
    const words = [...before, ...zeros, ...after].map((word) => Number.parseInt(word, 16));
    return [IPV6, ...words.flatMap((word) => [word >> 8, word & 0xff])];
  }
  const name = [...Buffer.from(host)];
  if (name.length > 255) throw failed('the name is too long');
  return [NAME, name.length, ...name];
}

/** So many bytes and no more: what follows is the target's. */
function readBytes(connection: Duplex, count: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const settle = (): void => {
      connection.removeListener('readable', onReadable);
      connection.removeListener('error', onError);
      connection.removeListener('close', onClose);
      connection.removeListener('end', onClose);
    };
    const onReadable = (): void => {
      const bytes = connection.read(count) as Buffer | null;
      if (bytes === null) return;
      settle();
      if (bytes.length === count) resolve(bytes);
      else reject(failed('unexpected EOF'));
    };
    const onError = (error: Error): void => {
      settle();
      reject(error);
    };
    const onClose = (): void => onError(failed('unexpected EOF'));
    connection.on('readable', onReadable);
    connection.once('error', onError);
    connection.once('close', onClose);
    connection.once('end', onClose);
    onReadable();
  });
}
