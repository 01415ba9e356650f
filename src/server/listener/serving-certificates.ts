// The certificates the secure port shows, and their renewal when the files change.
//
// A certificate is shown for the patterns that its flag names, or else for its own names: explicit patterns before names
// of certificates, earlier flags before later ones.
import { X509Certificate } from 'node:crypto';
import fs from 'node:fs';
import net from 'node:net';
import type { TlsOptions } from 'node:tls';
import type { Logger } from '../../lib/telemetry/log.js';
import { type OfferedTls, offeredSuites, serverTlsParameters } from '../../lib/x509/tls-parameters.js';
import type { ReloadRequests } from '../../lib/files/reload-requests.js';
import { watchFiles } from '../../lib/files/watch-files.js';
import { caBundleError, servingPairError } from '../../options/key-files.js';
import { type CertificateChoice, chooseCertificate, type ShownCertificate } from './choose-certificate.js';
import type { ClientHello } from './client-hello.js';

export interface CertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

export interface SniCertificateFiles extends CertificateFiles {
  /** Explicit patterns; without any the certificate's own names are used. */
  readonly names: readonly string[];
}

export interface ServingCertificateOptions extends OfferedTls {
  readonly serving: CertificateFiles;
  readonly sni?: readonly SniCertificateFiles[];
  /** The authorities of client certificates; when empty, no certificate is requested. */
  readonly clientCaFiles?: readonly string[];
  readonly reloads?: ReloadRequests;
  readonly log: Logger;
}

export interface ServingCertificates {
  /** All of them. One that is alone is shown to every client. */
  shown(): readonly ShownCertificate[];
  /** The one to show to a client, by its first message and the address that it called. */
  choose(hello: ClientHello | undefined, localAddress: string): ShownCertificate;
  /** A listener that cannot use the new certificates throws, and the old ones stay. */
  onChange(listener: () => void): void;
  close(): void;
}

const POLL_MS = 60_000;

/** Throws when a file cannot be read. That a key belongs to its certificate shows when the port opens. */
export function loadServingCertificates(options: ServingCertificateOptions): ServingCertificates {
  let sources = read(options);
  let state = load(options, sources);
  const listeners: (() => void)[] = [];
  let logged: string | undefined;
  const reload = (): void => {
    const old = state;
    const problems: WrongFile[] = [];
    try {
      const found = read(options, { sources, problems });
      const next = load(options, found);
      if (next.fingerprint !== old.fingerprint) {
        state = next;
        for (const listener of listeners) listener();
        sources = found;
        options.log.info('Reloaded serving certificates');
      }
    } catch (error) {
      state = old;
      if (problems.length === 0) problems.push({ error: error instanceof Error ? error.message : String(error) });
    }
    const words = JSON.stringify(problems);
    if (words === logged) return;
    logged = words;
    for (const { error, ...files } of problems) {
      options.log.error(new Error(error), 'Kept the serving certificates in use', files);
    }
  };
  const stop = watchFiles(filesOf(options), { pollMs: POLL_MS, changed: reload, reloads: options.reloads });
  return {
    shown: () => [state.byDefault, ...state.others],
    choose: (hello, localAddress) => chooseCertificate(state, hello, localAddress),
    onChange: (listener) => listeners.push(listener),
    close: stop,
  };
}

const filesOf = (options: ServingCertificateOptions): string[] => [
  options.serving.certFile,
  options.serving.keyFile,
  ...(options.sni ?? []).flatMap(({ certFile, keyFile }) => [certFile, keyFile]),
  ...(options.clientCaFiles ?? []),
];

interface WrongFile {
  readonly error: string;
  readonly certFile?: string;
  readonly keyFile?: string;
  readonly file?: string;
}

interface Pair {
  readonly cert: string;
  readonly key: string;
}

interface Sources {
  readonly serving: Pair;
  readonly sni: readonly Pair[];
  readonly clientCas: readonly string[];
}

/**
 * What is in the files. A half-written pair, or a bundle without certificates, is a problem of its own: the old one goes on
 * being used until the new one is whole, and the others are loaded all the same.
 */
function read(
  { serving, sni = [], clientCaFiles = [] }: ServingCertificateOptions,
  kept?: { readonly sources: Sources; readonly problems: WrongFile[] },
): Sources {
  const pair = (files: CertificateFiles, old: Pair | undefined): Pair => {
    const { certFile, keyFile } = files;
    const error = old && servingPairError('serving-cert', certFile, keyFile);
    if (error === undefined || old === undefined) return readPair(files);
    kept?.problems.push({ error, certFile, keyFile });
    return old;
  };
  const bundle = (file: string, old: string | undefined): string => {
    const error = old === undefined ? undefined : caBundleError('client-ca-bundle', file);
    if (error === undefined || old === undefined) return fs.readFileSync(file, 'utf8');
    kept?.problems.push({ error, file });
    return old;
  };
  const old = kept?.sources;
  return {
    serving: pair(serving, old?.serving),
    sni: sni.map((files, i) => pair(files, old?.sni[i])),
    clientCas: clientCaFiles.map((file, i) => bundle(file, old?.clientCas[i])),
  };
}

function readPair({ certFile, keyFile }: CertificateFiles): Pair {
  const pair = { cert: fs.readFileSync(certFile, 'utf8'), key: fs.readFileSync(keyFile, 'utf8') };
  // Node treats an empty list as none at all, and then no client gets through.
  if (pair.cert === '' || pair.key === '') throw new Error(`there is nothing in ${certFile} or ${keyFile}`);
  return pair;
}

interface Loaded extends CertificateChoice {
  readonly fingerprint: string;
}

function load(options: ServingCertificateOptions, { serving, sni, clientCas }: Sources): Loaded {
  const shared: TlsOptions = {
    ...serverTlsParameters(options),
    // An empty list, not none: without one Node would load the public roots, which decide nothing here.
    ca: [...clientCas],
    requestCert: clientCas.length > 0,
    // Chains are verified by the authenticators, which know what each authority may vouch for.
    rejectUnauthorized: false,
  };
  const made = (pair: Pair): ShownCertificate => ({
    leaf: new X509Certificate(pair.cert),
    options: { ...shared, ...pair },
  });
  const byName = new Map<string, ShownCertificate>();
  const explicit = new Map<string, ShownCertificate>();
  const others = sni.map(made);
  // From last to first, so that earlier flags win.
  for (const [i, certificate] of [...others.entries()].reverse()) {
    const names = options.sni?.[i]?.names ?? [];
    for (const name of names) explicit.set(name.toLowerCase(), certificate);
    if (names.length > 0) continue;
    for (const name of namesIn(certificate.leaf)) byName.set(name.toLowerCase(), certificate);
  }
  for (const [name, certificate] of explicit) byName.set(name, certificate);
  const fingerprint = [serving, ...sni].map(({ cert, key }) => cert + key).join('') + clientCas.join('');
  return { fingerprint, byDefault: made(serving), others, byName, suites: offeredSuites(options) };
}

const DOMAIN = /^(\*|(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)$/;

/** The subject's common name where it is a domain, then the alternative DNS names. Server names are never addresses. */
function namesIn(certificate: X509Certificate): string[] {
  const commonName = /^CN=(.*)$/m.exec(certificate.subject)?.[1] ?? '';
  const names = DOMAIN.test(commonName) && net.isIP(commonName) === 0 ? [commonName] : [];
  for (const entry of (certificate.subjectAltName ?? '').split(', ')) {
    if (entry.startsWith('DNS:')) names.push(entry.slice(4));
  }
  return names;
}
