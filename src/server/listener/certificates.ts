// Key material made by the server itself: once, kept, and made again only when it no longer serves.
//
//   <folder>/pki/ca.crt, ca.key                    signs the two below
//   <folder>/pki/apiserver.crt, apiserver.key      the serving certificate
//   <folder>/pki/admin.crt, admin.key              a client in system:masters
//   <folder>/pki/sa.key, sa.pub                    service-account tokens
//   <folder>/admin.kubeconfig
//
// On a full disk nothing can be made anew, and a start must still be possible, since it is how room is made: what is there
// goes on being used as long as it is valid.
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
import { isFullDisk } from '../../lib/files/full-disk.js';
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

export interface KeptFile {
  /** Why the file should have been made anew, where that failed because the disk is full. */
  readonly outdated?: string;
}

export interface Authority extends KeptFile {
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
  const keep = ({ certPem, keyPem }: Pair): Authority => {
    const keys = { privateKey: createPrivateKey(keyPem), publicKey: createPublicKey(keyPem) };
    return { certFile, keyFile, certPem, keys, replaced: false };
  };
  if (kept !== undefined && isFresh(kept.certificate, nowMs)) return keep(kept);
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
  const outdated = unlessFull(
    () => writePair({ certFile, keyFile }, certPem, keys),
    kept !== undefined && isValid(kept.certificate, nowMs),
  );
  if (outdated !== undefined && kept !== undefined) return { ...keep(kept), outdated };
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
): CertificateFiles & KeptFile {
  const what = { subject: SERVER_SUBJECT, use: 'server', ...names } as const;
  return ensureIssued(pairIn(path.join(folder, 'pki'), 'apiserver'), authority, what, nowMs);
}

/** The administrator's client certificate. */
export function ensureAdminCertificate(
  folder: string,
  authority: Authority,
  nowMs: number,
): CertificateFiles & KeptFile {
  const what = { subject: ADMIN_SUBJECT, use: 'client' } as const;
  return ensureIssued(pairIn(path.join(folder, 'pki'), 'admin'), authority, what, nowMs);
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

/** Everything kubectl needs, in one file. */
export function writeAdminKubeconfig(
  folder: string,
  server: string,
  caPem: string,
  client: CertificateFiles,
): KeptFile & { readonly file: string } {
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
  const kept = fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : undefined;
  if (kept === text) return { file };
  const outdated = unlessFull(() => writeWhole(file, text), kept !== undefined);
  return { file, ...(outdated !== undefined && { outdated }) };
}

const pairIn = (folder: string, name: string): CertificateFiles => ({
  certFile: path.join(folder, `${name}.crt`),
  keyFile: path.join(folder, `${name}.key`),
});

function ensureIssued(
  files: CertificateFiles,
  authority: Authority,
  what: { subject: Subject; use: 'server' | 'client' } & Partial<ServerNames>,
  nowMs: number,
): CertificateFiles & KeptFile {
  const kept = readPair(files.certFile, files.keyFile)?.certificate;
  const isOurs = kept !== undefined && isSignedBy(kept, authority);
  if (isOurs && isFresh(kept, nowMs) && coversAll(kept, what)) return files;
  const keys = generateKeys();
  const certPem = issueCertificate({
    ...what,
    publicKey: keys.publicKey,
    issuer: { subject: CA_SUBJECT, keys: authority.keys },
    notBeforeMs: nowMs - BACKDATE_MS,
    notAfterMs: nowMs + YEAR_MS,
  });
  const outdated = unlessFull(() => writePair(files, certPem, keys), isOurs && isValid(kept, nowMs));
  return { ...files, ...(outdated !== undefined && { outdated }) };
}

/** Writes; where the disk is full and what is there can be used, that stays, and the reason is returned. */
function unlessFull(write: () => void, isKeptUsable: boolean): string | undefined {
  try {
    write();
    return undefined;
  } catch (error) {
    if (!isKeptUsable || !isFullDisk(error)) throw error;
    return errorText(error);
  }
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

const isValid = (certificate: X509Certificate, nowMs: number): boolean =>
  Date.parse(certificate.validFrom) <= nowMs && nowMs < Date.parse(certificate.validTo);

const isSignedBy = (certificate: X509Certificate, { keys }: Authority): boolean => certificate.verify(keys.publicKey);

/** Names are compared as written: a host name that no client could verify must not renew the certificate each time. */
function coversAll(certificate: X509Certificate, { dnsNames = [], ipAddresses = [] }: Partial<ServerNames>): boolean {
  const written = (certificate.subjectAltName ?? '').split(', ');
  return (
    dnsNames.every((name) => written.includes(`DNS:${name}`)) &&
    ipAddresses.every((address) => certificate.checkIP(address) !== undefined)
  );
}

/** A crash between the two leaves a pair that does not match and is made again; a full disk leaves the pair that was there. */
function writePair({ certFile, keyFile }: CertificateFiles, certPem: string, keys: KeyPair): void {
  writeAll([
    { file: keyFile, text: privateKeyPem(keys.privateKey) },
    { file: certFile, text: certPem },
  ]);
}

const writeWhole = (file: string, text: string): void => writeAll([{ file, text }]);

/** For the owner alone. Each is there whole or not at all, and none is replaced before there is room for all. */
function writeAll(contents: readonly { readonly file: string; readonly text: string }[]): void {
  const written: { readonly file: string; readonly temporary: string }[] = [];
  for (const { file } of contents) {
    try {
      makeFolder(path.dirname(file));
    } catch (error) {
      throw new Error(madeFileError(error, file), { cause: error });
    }
  }
  let at = '';
  try {
    for (const { file, text } of contents) {
      at = file;
      const temporary = `${file}.${process.pid}.tmp`;
      written.push({ file, temporary });
      fs.writeFileSync(temporary, text, { mode: 0o600 });
    }
    for (const { file, temporary } of written) {
      at = file;
      fs.renameSync(temporary, file);
    }
  } catch (error) {
    for (const { temporary } of written) fs.rmSync(temporary, { force: true });
    throw new Error(goFileError(error, at), { cause: error });
  }
}
