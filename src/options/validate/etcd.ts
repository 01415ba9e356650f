import { goQuote } from '../../lib/go/quote.js';
import { PROTOBUF_MEDIA_TYPE } from '../../machinery/names.js';
import type { Options } from '../options.js';

const MEDIA_TYPES = ['application/json', PROTOBUF_MEDIA_TYPE, 'application/yaml'];

export function etcdErrors({ etcd, embeddedStore }: Options): string[] {
  const errors: string[] = [];
  // Credentials for a store are a sign that one was meant, so the embedded store does not step in silently.
  const { etcdCafile, etcdCertfile, etcdKeyfile } = etcd;
  if (embeddedStore && [etcdCafile, etcdCertfile, etcdKeyfile].some((file) => file !== '')) {
    errors.push('--etcd-servers must be specified');
  }
  if (etcd.storageBackend !== '' && etcd.storageBackend !== 'etcd3') {
    errors.push("--storage-backend invalid, allowed values: etcd3. If not specified, it will default to 'etcd3'");
  }
  if (!etcd.etcdServersOverrides.every((override) => /^[^/#]*\/[^/#]*#[^#;]+(?:;[^#;]+)*$/.test(override))) {
    errors.push(
      '--etcd-servers-overrides invalid, must be of format: group/resource#servers, where servers are URLs, semicolon separated',
    );
  }
  if (etcd.encryptionProviderConfig === '' && etcd.encryptionProviderConfigAutomaticReload) {
    errors.push('--encryption-provider-config-automatic-reload must be set with --encryption-provider-config');
  }
  if (etcd.storageMediaType !== '' && !MEDIA_TYPES.includes(etcd.storageMediaType)) {
    errors.push(
      `--storage-media-type ${goQuote(etcd.storageMediaType)} invalid, allowed values: ${MEDIA_TYPES.join(', ')}`,
    );
  }
  return errors;
}
