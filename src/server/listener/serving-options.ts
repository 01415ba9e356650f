// The flags about the secure port, as the listener's certificates want them.
import { TLS_VERSIONS } from '../../lib/x509/cipher-suites.js';
import type { Options } from '../../options/options.js';
import type { CertificateFiles, ServingCertificateOptions } from './serving-certificates.js';

/** `clientCaFile` is the authority of client certificates, generated or from the flags; empty for none. */
export function servingOptions(
  options: Options,
  serving: CertificateFiles,
  clientCaFile: string,
): Omit<ServingCertificateOptions, 'log'> {
  const { tlsMinVersion, tlsCipherSuites, tlsSniCertKey } = options.secureServing;
  const { requestheaderClientCaFile } = options.authentication;
  return {
    serving,
    sni: tlsSniCertKey,
    // A front proxy shows a certificate of another authority.
    clientCaFiles: [clientCaFile, requestheaderClientCaFile].filter((file) => file !== ''),
    cipherSuites: tlsCipherSuites,
    ...(tlsMinVersion in TLS_VERSIONS && { minVersion: TLS_VERSIONS[tlsMinVersion as keyof typeof TLS_VERSIONS] }),
  };
}
