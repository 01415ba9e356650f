// Certificates that are renewed while the server runs: connections that follow get the new ones.
import { X509Certificate } from 'node:crypto';
import fs from 'node:fs';
import { createSecureContext, type TlsOptions } from 'node:tls';
import { watchFiles } from '../lib/files/watch-files.js';
import type { Logger } from '../lib/telemetry/log.js';
import { errorText } from '../lib/text/error-text.js';
import type { ServingTls } from './listen.js';

const POLL_MS = 60_000;

export interface TlsFiles {
  readonly certFile: string;
  readonly keyFile: string;
  /** The authorities of clients; empty where there are none. */
  readonly caFile: string;
}

/** Throws where the files cannot be used. `fixed`: what does not change. A problem is logged once. */
export function reloadingTls(files: TlsFiles, fixed: TlsOptions, log: Logger, watch = watchFiles): ServingTls {
  const { certFile, keyFile, caFile } = files;
  const names = [certFile, keyFile, caFile].filter((file) => file !== '');
  let [known, options] = read();
  let problem = '';
  return {
    options,
    follow: (use) =>
      watch(names, {
        pollMs: POLL_MS,
        changed() {
          try {
            const [text, changed] = read();
            problem = '';
            if (text === known) return;
            [known, options] = [text, changed];
            use(options);
            log.info('Serving with the certificate that was renewed', { file: certFile, subject: subjectOf(changed) });
          } catch (error) {
            // Half of a pair may be there: what was in use still is.
            const found = errorText(error);
            if (found !== problem) log.warning(`cannot use ${names.join(', ')}: ${found}`);
            problem = found;
          }
        },
      }),
  };

  function read(): [text: string, options: TlsOptions] {
    const [cert, key] = [certFile, keyFile].map((file) => fs.readFileSync(file, 'utf8'));
    const ca = caFile === '' ? undefined : fs.readFileSync(caFile, 'utf8');
    const found: TlsOptions = { ...fixed, cert, key, ...(ca !== undefined && { ca }) };
    createSecureContext(found);
    return [[cert, key, ca].join('\n'), found];
  }
}

const subjectOf = ({ cert }: TlsOptions): string => new X509Certificate(String(cert)).subject;
