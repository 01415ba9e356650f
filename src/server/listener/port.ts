// The port: where connections come from.
import net, { type AddressInfo, type Socket } from 'node:net';
import { errorText } from '../../lib/text/error-text.js';
import type { Logger } from '../../lib/telemetry/log.js';

export interface PortOptions {
  /** `0.0.0.0` and `::` listen on every address of both families. */
  readonly address: string;
  /** 0 for a free port. */
  readonly port: number;
  /** `--permit-port-sharing`: several processes on one port. */
  readonly permitPortSharing?: boolean;
}

export interface OpenPort {
  readonly address: string;
  readonly port: number;
  /** No new connections; open ones go on. */
  close(): void;
}

export interface BoundPort extends OpenPort {
  /** Logs that the port is served: there is somebody to take connections. */
  announce(): void;
}

interface BindOptions extends PortOptions {
  /** Connections are handed over unread: another process reads them. */
  readonly pauseOnConnect?: boolean;
  readonly log: Logger;
}

/** A port that is served from the beginning. */
export async function openPort(options: BindOptions, accept: (socket: Socket) => void): Promise<OpenPort> {
  const port = await bindPort(options, accept);
  port.announce();
  return port;
}

export async function bindPort(options: BindOptions, accept: (socket: Socket) => void): Promise<BoundPort> {
  const { log, pauseOnConnect = false } = options;
  const server = net.createServer({ pauseOnConnect }, accept);
  if (options.permitPortSharing === true && !canSharePorts()) {
    log.warning('Sharing the port with other processes needs Node 22.12 or later; the flag is ignored');
  }
  const bound = await bind(server, options);
  let isClosed = false;
  return {
    address: bound.address,
    port: bound.port,
    announce: () => log.plain(`Serving securely on ${addressText(bound)}`),
    close() {
      if (isClosed) return;
      isClosed = true;
      server.close();
      log.plain(`Stopped listening on ${addressText(bound)}`);
    },
  };
}

/** Fails as `openPort` would: so that a start that must fail does so before it leaves anything behind. */
export async function ensurePortFree(options: PortOptions): Promise<void> {
  const server = net.createServer();
  await bind(server, options);
  await new Promise((resolve) => server.close(resolve));
}

function canSharePorts(): boolean {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  return major > 22 || (major === 22 && minor >= 12);
}

const addressText = ({ address, port }: Pick<AddressInfo, 'address' | 'port'>): string =>
  address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;

/** In the words that operators know. */
const BIND_ERRORS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'address already in use',
  EADDRNOTAVAIL: 'cannot assign requested address',
  EACCES: 'permission denied',
};

async function bind(server: net.Server, options: PortOptions): Promise<AddressInfo> {
  const unspecified = options.address === '' || options.address === '0.0.0.0' || options.address === '::';
  const hosts = unspecified ? ['::', '0.0.0.0'] : [options.address];
  for (const [i, host] of hosts.entries()) {
    try {
      return await bindOnce(server, host, options);
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      // A machine without IPv6 listens on IPv4 alone.
      const retry = i + 1 < hosts.length && (code === 'EAFNOSUPPORT' || code === 'EADDRNOTAVAIL');
      if (retry) continue;
      const at = addressText(options);
      const why = BIND_ERRORS[code] === undefined ? errorText(error) : `listen tcp ${at}: bind: ${BIND_ERRORS[code]}`;
      throw new Error(`failed to create listener: failed to listen on ${at}: ${why}`, { cause: error });
    }
  }
  throw new Error('no address to listen on');
}

function bindOnce(server: net.Server, host: string, options: PortOptions): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    // Node sets SO_REUSEADDR always; `reusePort` works from Node 22.12 on and is ignored before.
    const listenOptions = { host, port: options.port, backlog: 4096, reusePort: options.permitPortSharing === true };
    server.listen(listenOptions, () => {
      server.removeListener('error', reject);
      resolve(server.address() as AddressInfo);
    });
  });
}
