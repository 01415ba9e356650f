// The keys and certificates a server starts with: those of the flags, and for the rest those it makes once and keeps.
import type { Logger } from '../../lib/telemetry/log.js';
import fs from 'node:fs';
import os from 'node:os';
import type { Options } from '../../options/options.js';
import {
  type Authority,
  ensureAdminCertificate,
  ensureAuthority,
  ensureSelfSignedCertificate,
  ensureServiceAccountKeys,
  ensureServingCertificate,
  type KeptFile,
  type ServerNames,
  writeAdminKubeconfig,
} from './certificates.js';
import type { CertificateFiles } from './serving-certificates.js';

export interface PreparedCertificates {
  readonly serving: CertificateFiles;
  /** Empty when clients cannot show certificates. */
  readonly clientCaFile: string;
  readonly serviceAccountSigningKeyFile: string;
  readonly serviceAccountKeyFiles: readonly string[];
  /** Where it was written, for whoever starts the server by hand. */
  readonly adminKubeconfig?: string;
  /** What clients verify this server by, when it is known. */
  readonly servingCaPem?: string;
}

export function prepareCertificates(options: Options, nowMs: number, log: Logger): PreparedCertificates {
  const { secureServing, authentication, misc, generate, dataDir } = options;
  const names = serverNames(options);
  const authority = generate.clientCa || generate.servingCertificate ? ensureAuthority(dataDir, nowMs) : undefined;
  if (authority?.replaced === true) {
    log.warning(`${authority.certFile} could not be used any more and was made anew: clients need the new one`);
  }
  warnOfOutdated(authority?.certFile, authority);
  const serving = servingFiles();
  const keys = generate.serviceAccountKeys ? ensureServiceAccountKeys(dataDir) : undefined;
  const own = authority !== undefined && generate.clientCa ? { authority } : undefined;
  // Our authority has not signed a certificate of the flags: clients then trust that one itself and what follows it.
  const servingCaPem =
    authority !== undefined && generate.servingCertificate
      ? authority.certPem
      : fs.readFileSync(serving.certFile, 'utf8');
  return {
    serving,
    clientCaFile: own?.authority.certFile ?? authentication.clientCaFile,
    serviceAccountSigningKeyFile: keys?.keyFile ?? misc.serviceAccountSigningKeyFile,
    serviceAccountKeyFiles: keys === undefined ? authentication.serviceAccountKeyFile : [keys.publicKeyFile],
    ...(authority !== undefined && { servingCaPem }),
    ...(own !== undefined && { adminKubeconfig: adminKubeconfigOf(own.authority) }),
  };

  function adminKubeconfigOf(signer: Authority): string {
    const url = `https://${kubeconfigHost(secureServing.bindAddress)}:${secureServing.securePort}`;
    const admin = ensureAdminCertificate(dataDir, signer, nowMs);
    warnOfOutdated(admin.certFile, admin);
    const { file, outdated } = writeAdminKubeconfig(dataDir, url, servingCaPem, admin);
    if (outdated !== undefined) {
      log.warning(`${outdated}. ${file} stays as it was: give kubectl --server=${url}, make room and start again`);
    }
    return file;
  }

  function warnOfOutdated(file: string | undefined, { outdated }: KeptFile = {}): void {
    if (outdated === undefined) return;
    log.warning(`${outdated}. ${file} should be made anew and stays in use: make room and start again`);
  }

  function servingFiles(): CertificateFiles {
    if (secureServing.tlsCertFile !== '') {
      return { certFile: secureServing.tlsCertFile, keyFile: secureServing.tlsPrivateKeyFile };
    }
    if (generate.servingCertificate && authority !== undefined) {
      const made = ensureServingCertificate(dataDir, authority, names, nowMs);
      warnOfOutdated(made.certFile, made);
      return made;
    }
    return ensureSelfSignedCertificate(secureServing.certDir, names.ipAddresses[0] ?? 'localhost', names, nowMs);
  }
}

/** What the server is called inside its cluster and by those who reach it. */
function serverNames(options: Options): ServerNames {
  const { generic, secureServing, serviceRanges } = options;
  const unspecified = ['', '0.0.0.0', '::'];
  const addresses = [
    generic.advertiseAddress,
    secureServing.bindAddress,
    '127.0.0.1',
    '::1',
    serviceRanges.apiServiceIp,
  ];
  const dnsNames = [
    'kubernetes',
    'kubernetes.default',
    'kubernetes.default.svc',
    'kubernetes.default.svc.cluster.local',
    'localhost',
  ];
  if (generic.externalHostname !== '') dnsNames.push(generic.externalHostname);
  dnsNames.push(os.hostname());
  return {
    dnsNames: [...new Set(dnsNames)],
    ipAddresses: [...new Set(addresses.filter((address) => !unspecified.includes(address)))],
  };
}

const kubeconfigHost = (bindAddress: string): string => {
  if (bindAddress === '' || bindAddress === '0.0.0.0' || bindAddress === '::') return '127.0.0.1';
  return bindAddress.includes(':') ? `[${bindAddress}]` : bindAddress;
};
