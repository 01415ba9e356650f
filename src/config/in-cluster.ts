// How a program that runs in a pod reaches the API of its cluster.
import fs from 'node:fs';
import net from 'node:net';
import { goFileError } from '../lib/go/file-error.js';
import type { ClientConfig } from './client-config.js';
import { ConfigError } from './config-error.js';

const FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount';

/** Throws a ConfigError outside a pod. */
export function inClusterConfig(env: Readonly<Record<string, string | undefined>>, folder = FOLDER): ClientConfig {
  const host = env['KUBERNETES_SERVICE_HOST'] ?? '';
  const port = env['KUBERNETES_SERVICE_PORT'] ?? '';
  if (host === '' || port === '') {
    throw new ConfigError(
      'unable to load in-cluster configuration, KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must be defined',
    );
  }
  const read = (name: string): Buffer => {
    const file = `${folder}/${name}`;
    try {
      return fs.readFileSync(file);
    } catch (error) {
      throw new ConfigError(goFileError(error, file));
    }
  };
  // Both are renewed while we run, and read anew each time; now only to find out early whether they are there.
  read('token');
  read('ca.crt');
  return {
    server: new URL(`https://${net.isIPv6(host) ? `[${host}]` : host}:${port}`),
    tls: () => ({ ca: read('ca.crt'), insecure: false }),
    headers: () => ({ authorization: `Bearer ${read('token').toString('utf8').trim()}` }),
  };
}
