// From etcd's URLs to sockets.
import fs from 'node:fs';
import type { TlsOptions } from 'node:tls';
import type { ListenAddress } from '../../etcd/listen.js';
import { CommandFailure } from '../command.js';
import type { EtcdFlags } from './flags.js';

const DEFAULT_PORT = 2379;
const URL_FORM = /^(https?|unixs?):\/\/(.+)$/;
const HOST_FORM = /^(?:\[([0-9a-fA-F:.]+)\]|([0-9.]+|localhost)):(\d{1,5})$/;

export function addressesOf(urls: readonly string[], flags: EtcdFlags): ListenAddress[] {
  return urls.map((url) => addressOf(url, flags));
}

function addressOf(url: string, flags: EtcdFlags): ListenAddress {
  const [, scheme = '', rest = ''] = URL_FORM.exec(url) ?? [];
  if (scheme === '') throw new CommandFailure(`cannot listen on ${url}: URLs begin with http, https, unix or unixs`);
  const tls = scheme.endsWith('s') ? tlsOf(url, flags) : undefined;
  if (scheme.startsWith('unix')) return { socketPath: rest, tls };
  const host = rest.endsWith('/') ? rest.slice(0, -1) : rest;
  const [, v6, v4, port] = HOST_FORM.exec(/:\d+$/.test(host) ? host : `${host}:${DEFAULT_PORT}`) ?? [];
  const address = v6 ?? v4;
  if (address === undefined || Number(port) > 65535) {
    throw new CommandFailure(`cannot listen on ${url}: expected IP in URL for binding`);
  }
  return { host: address === 'localhost' ? '127.0.0.1' : address, port: Number(port), tls };
}

function tlsOf(url: string, { certFile, keyFile, trustedCaFile, clientCertAuth }: EtcdFlags): TlsOptions {
  if (certFile === '' || keyFile === '') {
    throw new CommandFailure(`TLS key/cert (--cert-file, --key-file) must be provided for client url ${url}`);
  }
  const needsClient = clientCertAuth || trustedCaFile !== '';
  return {
    minVersion: 'TLSv1.2',
    cert: read(certFile),
    key: read(keyFile),
    ...(trustedCaFile !== '' && { ca: read(trustedCaFile) }),
    ...(needsClient && { requestCert: true, rejectUnauthorized: true }),
  };
}

function read(file: string): Buffer {
  try {
    return fs.readFileSync(file);
  } catch (error) {
    throw new CommandFailure(`cannot read ${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
