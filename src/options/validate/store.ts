import { storeAddressOf } from '../store-address.js';
import type { Options } from '../options.js';

/** Without objects a server has one or two megabytes. */
const MIN_QUOTA_BYTES = 16 * 1024 * 1024;

/** Of the embedded store, and of its being served by etcd's API. */
export function storeErrors({ binnacle, embeddedStore }: Options): string[] {
  const { storeListenUrl, storeClientCaFile, storeAccess, storeQuotaBytes } = binnacle;
  const errors: string[] = [];
  if (storeQuotaBytes !== 0 && storeQuotaBytes < MIN_QUOTA_BYTES) {
    errors.push(`--store-quota-bytes is 0 or at least ${MIN_QUOTA_BYTES}, not ${storeQuotaBytes}`);
  }
  if (storeQuotaBytes > 0 && !embeddedStore)
    errors.push('--store-quota-bytes is for the embedded store, and there is none with --etcd-servers');
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
