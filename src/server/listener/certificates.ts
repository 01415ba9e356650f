// Key material made by the server itself: once, kept, and made again only when it no longer serves.
//
//   <folder>/pki/ca.crt, ca.key                    signs the two below
//   <folder>/pki/apiserver.crt, apiserver.key      the serving certificate
//   <folder>/pki/admin.crt, admin.key              a client in system:masters
//   <folder>/pki/sa.key, sa.pub                    service-account tokens
//   <folder>/admin.kubeconfig
import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import {
  generateKeys,
  issueCertificate,
  type KeyPair,
  privateKeyPem,
  publicKeyPem,
  type Subject,
} from '../../lib/x509/issue-certificate.js';
import { errorText } from '../../lib/text/error-text.js';
import { goFileError } from '../../lib/go/file-error.js';
import { madeFileError, makeFolder } from '../../lib/files/make-folder.js';
import { MASTERS_GROUP } from '../../machinery/user.js';
import type { CertificateFiles } from './serving-certificates.js';

const DAY_MS = 86_400_000;
const YEAR_MS = 365 * DAY_MS;
/** A certificate this close to its end is made anew at the next start. */
const RENEW_BEFORE_MS = 30 * DAY_MS;
/** Clocks of clients may be behind. */
const BACKDATE_MS = 3_600_000;

const CA_SUBJECT: Subject = { commonName: 'binnacle-ca' };
const SERVER_SUBJECT: Subject = { commonName: 'kube-apiserver' };
const ADMIN_SUBJECT: Subject = { commonName: 'admin', organizations: [MASTERS_GROUP] };

export interface Authority {
  readonly certFile: string;
  readonly keyFile: string;
  readonly certPem: string;
  readonly keys: KeyPair;
  /** There was one that no longer serves: clients that trusted it need this one. */
  readonly replaced: boolean;
}

/** The local certificate authority; a new one replaces all that the old one signed, since their issuer changed. */
export function ensureAuthority(folder: string, nowMs: number): Authority {
  const certFile = path.join(folder, 'pki', 'ca.crt');
  const keyFile = path.join(folder, 'pki', 'ca.key');
  const kept = readPair(certFile, keyFile);
  if (kept !== undefined && isFresh(kept.certificate, nowMs)) {
    const privateKey = createPrivateKey(kept.keyPem);
    const keys = { privateKey, publicKey: createPublicKey(kept.keyPem) };
    return { certFile, keyFile, certPem: kept.certPem, keys, replaced: false };
  }
  const replaced = fs.existsSync(certFile);
  const keys = generateKeys();
  const certPem = issueCertificate({
    subject: CA_SUBJECT,
    publicKey: keys.publicKey,
    issuer: { subject: CA_SUBJECT, keys },
    use: 'authority',
    notBeforeMs: nowMs - BACKDATE_MS,
    notAfterMs: nowMs + 10 * YEAR_MS,
  });
  writePair({ certFile, keyFile }, certPem, keys);
  return { certFile, keyFile, certPem, keys, replaced };
}

export interface ServerNames {
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
}

/** A serving certificate of the authority's, made again when the names to answer to have changed. */
export function ensureServingCertificate(
  folder: string,
  authority: Authority,
  names: ServerNames,
  nowMs: number,
): CertificateFiles {
  const files = pairIn(path.join(folder, 'pki'), 'apiserver');
  const kept = readPair(files.certFile, files.keyFile);
  if (
    kept !== undefined &&
    isFresh(kept.certificate, nowMs) &&
    isSignedBy(kept.certificate, authority) &&
    coversAll(kept.certificate, names)
  ) {
    return files;
  }
  return issue(files, authority, { subject: SERVER_SUBJECT, use: 'server', ...names }, nowMs);
}

/** The administrator's client certificate. */
export function ensureAdminCertificate(folder: string, authority: Authority, nowMs: number): CertificateFiles {
  const files = pairIn(path.join(folder, 'pki'), 'admin');
  const kept = readPair(files.certFile, files.keyFile);
  if (kept !== undefined && isFresh(kept.certificate, nowMs) && isSignedBy(kept.certificate, authority)) return files;
  return issue(files, authority, { subject: ADMIN_SUBJECT, use: 'client' }, nowMs);
}

/** `--cert-dir`: signed by itself, kept as long as both files are there, as kube-apiserver keeps it. */
export function ensureSelfSignedCertificate(
  folder: string,
  commonName: string,
  names: ServerNames,
  nowMs: number,
): CertificateFiles {
  const files = pairIn(folder, 'apiserver');
  const [missing, ...more] = [files.certFile, files.keyFile].filter((file) => !fs.existsSync(file));
  if (missing === undefined) return files;
  if (more.length === 0) {
    throw new Error(`${SELF_SIGNING}: error reading ${missing}, certificate and key must be supplied as a pair`);
  }
  const keys = generateKeys();
  const subject: Subject = { commonName: `${commonName}@${Math.floor(nowMs / 1000)}` };
  const certPem = issueCertificate({
    subject,
    publicKey: keys.publicKey,
    issuer: { subject, keys },
    use: 'server',
    ...names,
    notBeforeMs: nowMs - BACKDATE_MS,
    notAfterMs: nowMs + YEAR_MS,
  });
  try {
    writePair(files, certPem, keys);
  } catch (error) {
    throw new Error(`${SELF_SIGNING}: ${errorText(error)}`, { cause: error });
  }
  return files;
}

const SELF_SIGNING = 'error creating self-signed certificates';

/** The key that signs service-account tokens, and the public half that verifies them. */
export function ensureServiceAccountKeys(folder: string): { readonly keyFile: string; readonly publicKeyFile: string } {
  const keyFile = path.join(folder, 'pki', 'sa.key');
  const publicKeyFile = path.join(folder, 'pki', 'sa.pub');
  if (!fs.existsSync(keyFile)) {
    const keys = generateKeys();
    writeWhole(publicKeyFile, publicKeyPem(keys.publicKey));
    writeWhole(keyFile, privateKeyPem(keys.privateKey));
  } else if (!fs.existsSync(publicKeyFile)) {
    writeWhole(publicKeyFile, publicKeyPem(createPublicKey(fs.readFileSync(keyFile, 'utf8'))));
  }
  return { keyFile, publicKeyFile };
}

/** Everything kubectl needs, in one file. Returns its path. */
export function writeAdminKubeconfig(folder: string, server: string, caPem: string, client: CertificateFiles): string {
  const file = path.join(folder, 'admin.kubeconfig');
  const base64 = (text: string): string => Buffer.from(text, 'utf8').toString('base64');
  const text = `apiVersion: v1
kind: Config
clusters:
- name: binnacle
  cluster:
    server: ${server}
    certificate-authority-data: ${base64(caPem)}
users:
- name: admin
  user:
    client-certificate-data: ${base64(fs.readFileSync(client.certFile, 'utf8'))}
    client-key-data: ${base64(fs.readFileSync(client.keyFile, 'utf8'))}
contexts:
- name: binnacle
  context:
    cluster: binnacle
    user: admin
current-context: binnacle
`;
  if (!fs.existsSync(file) || fs.readFileSync(file, 'utf8') !== text) writeWhole(file, text);
  return file;
}

const pairIn = (folder: string, name: string): CertificateFiles => ({
  certFile: path.join(folder, `${name}.crt`),
  keyFile: path.join(folder, `${name}.key`),
});

function issue(
  files: CertificateFiles,
  authority: Authority,
  what: { subject: Subject; use: 'server' | 'client' } & Partial<ServerNames>,
  nowMs: number,
): CertificateFiles {
  const keys = generateKeys();
  const certPem = issueCertificate({
    ...what,
    publicKey: keys.publicKey,
    issuer: { subject: CA_SUBJECT, keys: authority.keys },
    notBeforeMs: nowMs - BACKDATE_MS,
    notAfterMs: nowMs + YEAR_MS,
  });
  writePair(files, certPem, keys);
  return files;
}

interface Pair {
  readonly certificate: X509Certificate;
  readonly certPem: string;
  readonly keyPem: string;
}

/** `undefined` when one is missing or they do not belong together. */
function readPair(certFile: string, keyFile: string): Pair | undefined {
  try {
    const certPem = fs.readFileSync(certFile, 'utf8');
    const keyPem = fs.readFileSync(keyFile, 'utf8');
    const certificate = new X509Certificate(certPem);
    return certificate.checkPrivateKey(createPrivateKey(keyPem)) ? { certificate, certPem, keyPem } : undefined;
  } catch {
    return undefined;
  }
}

const isFresh = (certificate: X509Certificate, nowMs: number): boolean =>
  Date.parse(certificate.validFrom) <= nowMs && nowMs < Date.parse(certificate.validTo) - RENEW_BEFORE_MS;

const isSignedBy = (certificate: X509Certificate, { keys }: Authority): boolean => certificate.verify(keys.publicKey);

/** Names are compared as written: a host name that no client could verify must not renew the certificate each time. */
function coversAll(certificate: X509Certificate, { dnsNames, ipAddresses }: ServerNames): boolean {
  const written = (certificate.subjectAltName ?? '').split(', ');
  return (
    dnsNames.every((name) => written.includes(`DNS:${name}`)) &&
    ipAddresses.every((address) => certificate.checkIP(address) !== undefined)
  );
}

/** The key first: a crash in between leaves a pair that does not match and is made again. */
function writePair({ certFile, keyFile }: CertificateFiles, certPem: string, keys: KeyPair): void {
  writeWhole(keyFile, privateKeyPem(keys.privateKey));
  writeWhole(certFile, certPem);
}

/** All or nothing, for the owner alone. */
function writeWhole(file: string, text: string): void {
  const temporary = `${file}.${process.pid}.tmp`;
  try {
    makeFolder(path.dirname(file));
  } catch (error) {
    throw new Error(madeFileError(error, file), { cause: error });
  }
  try {
    fs.writeFileSync(temporary, text, { mode: 0o600 });
    fs.renameSync(temporary, file);
  } catch (error) {
    fs.rmSync(temporary, { force: true });
    throw new Error(goFileError(error, file), { cause: error });
  }
}
