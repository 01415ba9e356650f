// From etcd's URLs to sockets.
import type { ListenAddress, ServingTls } from '../../etcd/listen.js';
import { reloadingTls } from '../../etcd/reloading-tls.js';
import type { Logger } from '../../lib/telemetry/log.js';
import { errorText } from '../../lib/text/error-text.js';
import { CommandFailure } from '../command.js';
import type { EtcdFlags } from './flags.js';

const DEFAULT_PORT = 2379;
const URL_FORM = /^(https?|unixs?):\/\/(.+)$/;
const HOST_FORM = /^(?:\[([0-9a-fA-F:.]+)\]|([0-9.]+|localhost)):(\d{1,5})$/;

export function addressesOf(urls: readonly string[], flags: EtcdFlags, log: Logger): ListenAddress[] {
  return urls.map((url) => addressOf(url, flags, log));
}

function addressOf(url: string, flags: EtcdFlags, log: Logger): ListenAddress {
  const [, scheme = '', rest = ''] = URL_FORM.exec(url) ?? [];
  if (scheme === '') throw new CommandFailure(`cannot listen on ${url}: URLs begin with http, https, unix or unixs`);
  const tls = scheme.endsWith('s') ? tlsOf(url, flags, log) : undefined;
  if (scheme.startsWith('unix')) return { socketPath: rest, tls };
  const host = rest.endsWith('/') ? rest.slice(0, -1) : rest;
  const [, v6, v4, port] = HOST_FORM.exec(/:\d+$/.test(host) ? host : `${host}:${DEFAULT_PORT}`) ?? [];
  const address = v6 ?? v4;
  if (address === undefined || Number(port) > 65535) {
    throw new CommandFailure(`cannot listen on ${url}: expected IP in URL for binding`);
  }
  return { host: address === 'localhost' ? '127.0.0.1' : address, port: Number(port), tls };
}

function tlsOf(url: string, flags: EtcdFlags, log: Logger): ServingTls {
  const { certFile, keyFile, trustedCaFile, clientCertAuth } = flags;
  if (certFile === '' || keyFile === '') {
    throw new CommandFailure(`TLS key/cert (--cert-file, --key-file) must be provided for client url ${url}`);
  }
  const needsClient = clientCertAuth || trustedCaFile !== '';
  const options = {
    minVersion: 'TLSv1.2',
    ...(needsClient && { requestCert: true, rejectUnauthorized: true }),
  } as const;
  try {
    return reloadingTls({ certFile, keyFile, caFile: trustedCaFile }, options, log);
  } catch (error) {
    throw new CommandFailure(`cannot serve ${url}: ${errorText(error)}`);
  }
}
