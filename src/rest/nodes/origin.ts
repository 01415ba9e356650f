// A server's address, out of parts that objects and requests name.
import { joinHostPort } from '../../lib/go/url-parts.js';
import { StatusError } from '../../machinery/status.js';

export interface Origin {
  readonly url: URL;
  /** Host and port as they were put together; the URL leaves out a port that goes without saying. */
  readonly host: string;
}

export type Scheme = 'http' | 'https';

/** `port` may be empty. */
export function originOf(scheme: Scheme, hostname: string, port: string): Origin {
  // What stands in a node's status may be anything: it must not lead elsewhere by being read as more than a host.
  if (!/^[\w.:-]+$/.test(hostname)) throw unusable(`invalid character in host name ${JSON.stringify(hostname)}`);
  if (!/^\d*$/.test(port)) throw unusable(`invalid port ${JSON.stringify(`:${port}`)} after host`);
  if (Number(port) > MAX_PORT) throw unusable(`dial tcp: address ${port}: invalid port`);
  const host = port === '' ? bracketed(hostname) : joinHostPort(hostname, port);
  if (!URL.canParse(`${scheme}://${host}`)) throw unusable(`invalid host ${JSON.stringify(host)}`);
  return { url: new URL(`${scheme}://${host}`), host };
}

export const MAX_PORT = 65_535;

const bracketed = (hostname: string): string => (hostname.includes(':') ? `[${hostname}]` : hostname);

const unusable = (why: string): StatusError => new StatusError(500, '', why);
