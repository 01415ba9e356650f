import { storeAddressOf } from '../store-address.js';
import type { Options } from '../options.js';

/** Of the embedded store that is served by etcd's API. */
export function storeErrors({ binnacle, embeddedStore }: Options): string[] {
  const { storeListenUrl, storeClientCaFile, storeAccess } = binnacle;
  const errors: string[] = [];
  if (storeAccess !== 'read-only' && storeAccess !== 'read-write') {
    errors.push(`--store-access is read-only or read-write, not ${storeAccess}`);
  }
  if (storeListenUrl === '') return errors;
  const address = storeAddressOf(storeListenUrl);
  if (!embeddedStore)
    errors.push('--store-listen-url is for the embedded store, and there is none with --etcd-servers');
  if (address === undefined) {
    errors.push('--store-listen-url is unix://PATH, or https://ADDRESS:PORT with a loopback address');
  } else if ('host' in address && storeClientCaFile === '') {
    errors.push('--store-client-ca-file is required for --store-listen-url with https');
  }
  return errors;
}
