// Issues X.509 certificates with elliptic-curve keys: a few milliseconds, where RSA keys would take half a second.
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import {
  derBits,
  derBoolean,
  derImplicit,
  derInteger,
  derOctets,
  derOidOf,
  derSequence,
  derSet,
  derTagged,
  derTimeOf,
  derUtf8,
} from './der-writer.js';
import { parseIp } from '../values/ip-address.js';

export interface KeyPair {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

export interface Subject {
  readonly commonName: string;
  readonly organizations?: readonly string[];
}

export interface CertificateRequest {
  readonly subject: Subject;
  readonly publicKey: KeyObject;
  readonly issuer: { readonly subject: Subject; readonly keys: KeyPair };
  readonly use: 'authority' | 'server' | 'client';
  /** Names and addresses a server answers to. */
  readonly dnsNames?: readonly string[];
  readonly ipAddresses?: readonly string[];
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
}

const OID = {
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  subjectKeyId: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyId: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
};

export const generateKeys = (): KeyPair => generateKeyPairSync('ec', { namedCurve: 'prime256v1' });

/** The certificate as PEM. */
export function issueCertificate(request: CertificateRequest): string {
  const algorithm = derSequence(derOidOf(OID.ecdsaWithSha256));
  const tbs = derSequence(
    derTagged(0, derInteger(Buffer.from([2]))),
    derInteger(serialNumber()),
    algorithm,
    nameOf(request.issuer.subject),
    derSequence(derTimeOf(request.notBeforeMs), derTimeOf(request.notAfterMs)),
    nameOf(request.subject),
    spkiOf(request.publicKey),
    derTagged(3, derSequence(...extensionsOf(request))),
  );
  const signature = sign('sha256', tbs, request.issuer.keys.privateKey);
  return pem('CERTIFICATE', derSequence(tbs, algorithm, derBits(signature)));
}

export const privateKeyPem = (key: KeyObject): string => key.export({ type: 'sec1', format: 'pem' }) as string;
export const publicKeyPem = (key: KeyObject): string => key.export({ type: 'spki', format: 'pem' }) as string;

const serialNumber = (): Buffer => {
  const bytes = randomBytes(16);
  // Positive, and without a leading zero byte.
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x40;
  return bytes;
};

const spkiOf = (key: KeyObject): Buffer => key.export({ type: 'spki', format: 'der' });

function nameOf({ organizations = [], commonName }: Subject): Buffer {
  const attribute = (oid: string, value: string): Buffer => derSet(derSequence(derOidOf(oid), derUtf8(value)));
  return derSequence(
    ...organizations.map((organization) => attribute(OID.organization, organization)),
    attribute(OID.commonName, commonName),
  );
}

function extensionsOf(request: CertificateRequest): Buffer[] {
  const isAuthority = request.use === 'authority';
  const list = [
    // Authorities sign certificates and lists; the others sign and agree on keys.
    extension(OID.keyUsage, isAuthority ? derBits(Buffer.from([0xa6]), 1) : derBits(Buffer.from([0xa0]), 5), true),
    extension(OID.basicConstraints, isAuthority ? derSequence(derBoolean(true)) : derSequence(), true),
    extension(OID.subjectKeyId, derOctets(keyId(request.publicKey))),
    extension(OID.authorityKeyId, derSequence(derImplicit(0, keyId(request.issuer.keys.publicKey)))),
  ];
  if (!isAuthority) {
    const use = request.use === 'server' ? OID.serverAuth : OID.clientAuth;
    list.push(extension(OID.extendedKeyUsage, derSequence(derOidOf(use))));
  }
  const names = [
    ...(request.dnsNames ?? []).map((name) => derImplicit(2, Buffer.from(name, 'ascii'))),
    ...(request.ipAddresses ?? []).map((address) => derImplicit(7, addressBytes(address))),
  ];
  if (names.length > 0) list.push(extension(OID.subjectAltName, derSequence(...names)));
  return list;
}

const extension = (oid: string, value: Buffer, critical = false): Buffer =>
  derSequence(derOidOf(oid), ...(critical ? [derBoolean(true)] : []), derOctets(value));

const keyId = (key: KeyObject): Buffer => createHash('sha1').update(spkiOf(key)).digest();

const pem = (label: string, bytes: Buffer): string =>
  `-----BEGIN ${label}-----\n${(bytes.toString('base64').match(/.{1,64}/g) ?? []).join('\n')}\n-----END ${label}-----\n`;

function addressBytes(address: string): Buffer {
  const ip = parseIp(address);
  if (ip === undefined) throw new Error(`not an address: ${address}`);
  return Buffer.from(ip.value.toString(16).padStart(ip.family === 4 ? 8 : 32, '0'), 'hex');
}
