// The certificate that this server shows to extension servers: `--proxy-client-cert-file` and its key, read again when the
// files change. A pair that does not fit together, as while it is being replaced, is not used.
import fs from 'node:fs';
import type { Logger } from '../../lib/telemetry/log.js';
import type { ReloadRequests } from '../../lib/files/reload-requests.js';
import { watchFiles } from '../../lib/files/watch-files.js';
import { servingPairError } from '../../options/key-files.js';
import type { ClientTls } from '../../outbound/client-tls.js';

export interface ProxyClientCertificateOptions {
  readonly certFile: string;
  readonly keyFile: string;
  /** Connections that show the old one are to be left. */
  readonly onChange: () => void;
  readonly signal: AbortSignal;
  readonly reloads?: ReloadRequests;
  readonly log: Logger;
}

type Pair = Required<Pick<ClientTls, 'cert' | 'key'>>;

const POLL_MS = 60_000;

/** What is to be shown now. Throws when the files cannot be read. */
export function followProxyClientCertificate(options: ProxyClientCertificateOptions): () => Pair {
  const { certFile, keyFile, onChange, signal, log } = options;
  let pair = readPair(options);
  let logged: string | undefined;
  const reload = (): void => {
    const error = servingPairError('aggregator-proxy-cert', certFile, keyFile);
    if (error !== undefined && error !== logged)
      log.error(new Error(error), 'Kept the proxy client certificate in use');
    logged = error;
    if (error !== undefined) return;
    const found = readPair(options);
    if (found.cert === pair.cert && found.key === pair.key) return;
    pair = found;
    log.info('Reloaded the proxy client certificate');
    onChange();
  };
  const stop = watchFiles([certFile, keyFile], { pollMs: POLL_MS, changed: reload, reloads: options.reloads });
  signal.addEventListener('abort', stop, { once: true });
  return () => pair;
}

const readPair = ({ certFile, keyFile }: ProxyClientCertificateOptions): Pair => ({
  cert: fs.readFileSync(certFile, 'utf8'),
  key: fs.readFileSync(keyFile, 'utf8'),
});
