// The embedded store of a running server, by etcd's API: for whoever looks into it, or moves it elsewhere.
import type { EtcdListener } from '../../etcd/listen.js';
import { reloadingTls } from '../../etcd/reloading-tls.js';
import { serveEtcd } from '../../etcd/serve.js';
import type { EmbeddedStore } from '../../kv/embedded/embedded.js';
import type { KeyValueStore } from '../../kv/kv.js';
import type { Logger } from '../../lib/telemetry/log.js';
import type { Options } from '../../options/options.js';
import { storeAddressOf } from '../../options/store-address.js';

const CLOSE_TIMEOUT_MS = 1_000;

export interface ServeStoreParts {
  readonly options: Options;
  readonly store: KeyValueStore;
  /** The server's own certificate. */
  readonly certificate: { readonly certFile: string; readonly keyFile: string };
  readonly log: Logger;
}

/** Answers how to stop it; undefined where the flags do not want it, or the store belongs to another process. */
export async function serveStore(parts: ServeStoreParts): Promise<(() => Promise<void>) | undefined> {
  const { options, store, certificate, log } = parts;
  const { storeListenUrl, storeClientCaFile, storeAccess } = options.binnacle;
  const address = storeListenUrl === '' ? undefined : storeAddressOf(storeListenUrl);
  if (address === undefined || !isEmbedded(store)) return undefined;
  const files = { ...certificate, caFile: storeClientCaFile };
  const clientsNeedCertificates = { minVersion: 'TLSv1.2', requestCert: true, rejectUnauthorized: true } as const;
  const tls = 'host' in address && reloadingTls(files, clientsNeedCertificates, log);
  const isReadOnly = storeAccess === 'read-only';
  const listener: EtcdListener = await serveEtcd({
    store,
    addresses: [tls === false ? address : { ...address, tls }],
    isReadOnly,
    member: { name: 'binnacle', clientUrls: [storeListenUrl], peerUrls: [] },
    scratchFolder: options.dataDir,
    onError: (error) => log.error(error, 'A call to the store failed'),
  });
  log.info("Serving the embedded store by etcd's API", { url: storeListenUrl, access: storeAccess });
  return () => listener.close(CLOSE_TIMEOUT_MS);
}

const isEmbedded = (store: KeyValueStore): store is EmbeddedStore => 'mvcc' in store;
