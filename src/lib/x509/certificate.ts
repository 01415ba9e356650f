// What the server reads in a certificate beyond its signature: who, until when, and what it may be used for.
import { X509Certificate, createHash } from 'node:crypto';
import { errorText } from '../text/error-text.js';
import { DER, DerError, type DerNode, derChildren, derOid, derTime, readWholeDer } from './der.js';
import { decodePem } from './pem.js';
import { type DistinguishedName, parseDistinguishedName } from './distinguished-name.js';

export interface Certificate {
  readonly der: Buffer;
  readonly x509: X509Certificate;
  readonly version: number;
  readonly serialNumber: string;
  readonly signatureAlgorithm: string;
  readonly issuer: DerNode;
  readonly subject: DerNode;
  readonly subjectName: DistinguishedName;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  /** Absent when the certificate does not say. */
  readonly basicConstraints?: { readonly ca: boolean; readonly maxPathLength?: number };
  /** Bits from keyUsage, most significant first bit 0; absent without the extension. */
  readonly keyUsageBits?: number;
  /** Object identifiers; absent without the extension. */
  readonly extendedKeyUsages?: readonly string[];
  readonly unhandledCriticalExtensions: readonly string[];
  /** Lower-case hex, without colons. */
  readonly sha256: string;
}

const BASIC_CONSTRAINTS = '2.5.29.19';
const KEY_USAGE = '2.5.29.15';
const EXTENDED_KEY_USAGE = '2.5.29.37';
// Subject alternative names say nothing about clients here, but a certificate may mark them critical.
const UNDERSTOOD = new Set([BASIC_CONSTRAINTS, KEY_USAGE, EXTENDED_KEY_USAGE, '2.5.29.17', '2.5.29.14', '2.5.29.35']);

/** Throws on anything that is not one well-formed X.509 certificate. */
export function parseCertificate(der: Buffer): Certificate {
  const x509 = new X509Certificate(der);
  const [toBeSigned, algorithm] = derChildren(readWholeDer(der, DER.sequence));
  if (toBeSigned === undefined || algorithm === undefined) throw new DerError('malformed certificate');
  const fields = derChildren(toBeSigned);
  // The version is tagged [0] and absent in version 1.
  const versionNode = fields[0]?.tag === 0xa0 ? fields.shift() : undefined;
  const [serial, , issuer, validity, subject] = fields;
  if (serial === undefined || issuer === undefined || validity === undefined || subject === undefined) {
    throw new DerError('malformed certificate');
  }
  const [notBefore, notAfter] = derChildren(validity);
  if (notBefore === undefined || notAfter === undefined) throw new DerError('malformed validity');
  const extensionsNode = fields.find((field) => field.tag === 0xa3);
  const extensions = parseExtensions(extensionsNode === undefined ? undefined : derChildren(extensionsNode)[0]);
  return {
    der,
    x509,
    version: versionNode === undefined ? 1 : (derChildren(versionNode)[0]?.content[0] ?? 0) + 1,
    serialNumber: BigInt(`0x${serial.content.toString('hex') || '0'}`).toString(),
    signatureAlgorithm: derOid(firstChild(algorithm)),
    issuer,
    subject,
    subjectName: parseDistinguishedName(subject),
    notBeforeMs: derTime(notBefore),
    notAfterMs: derTime(notAfter),
    ...extensions,
    sha256: createHash('sha256').update(der).digest('hex'),
  };
}

/** Every certificate of a PEM bundle. Other blocks are passed over; a malformed one fails with Go's message. */
export function parseCertificateBundle(pem: string): Certificate[] {
  return decodePem(pem)
    .filter(({ type, hasHeaders }) => type === 'CERTIFICATE' && !hasHeaders)
    .map(({ bytes }) => {
      try {
        return parseCertificate(bytes);
      } catch (error) {
        throw new Error(MALFORMED, { cause: error });
      }
    });
}

const MALFORMED = 'x509: malformed certificate';

/** Why bytes are no certificate, in Go's words. */
export function certificateFault(der: Buffer): string | undefined {
  try {
    parseCertificate(der);
    return undefined;
  } catch {
    return MALFORMED;
  }
}

/** Why nobody could be verified by a PEM bundle, in Go's words. */
export function certificateBundleFault(pem: string): string | undefined {
  try {
    if (parseCertificateBundle(pem).length > 0) return undefined;
    return 'data does not contain any valid RSA or ECDSA certificates';
  } catch (error) {
    return errorText(error);
  }
}

export interface Extension {
  readonly oid: string;
  readonly critical: boolean;
  readonly value: Buffer;
}

function parseExtensionList(list: DerNode | undefined): Extension[] {
  if (list === undefined) return [];
  return derChildren(list).map((extension) => {
    const parts = derChildren(extension);
    const value = parts.at(-1);
    if (value === undefined || value.tag !== DER.octetString) throw new DerError('malformed extension');
    const critical = parts[1]?.tag === DER.boolean && parts[1].content[0] !== 0;
    return { oid: derOid(firstChild(extension)), critical, value: value.content };
  });
}

function parseExtensions(
  list: DerNode | undefined,
): Pick<Certificate, 'basicConstraints' | 'keyUsageBits' | 'extendedKeyUsages' | 'unhandledCriticalExtensions'> {
  const extensions = parseExtensionList(list);
  const find = (oid: string) => extensions.find((extension) => extension.oid === oid)?.value;
  const constraints = find(BASIC_CONSTRAINTS);
  const usage = find(KEY_USAGE);
  const extended = find(EXTENDED_KEY_USAGE);
  return {
    ...(constraints === undefined ? {} : { basicConstraints: parseBasicConstraints(constraints) }),
    ...(usage === undefined ? {} : { keyUsageBits: readWholeDer(usage, DER.bitString).content[1] ?? 0 }),
    ...(extended === undefined
      ? {}
      : { extendedKeyUsages: derChildren(readWholeDer(extended, DER.sequence)).map(derOid) }),
    unhandledCriticalExtensions: extensions.filter((e) => e.critical && !UNDERSTOOD.has(e.oid)).map((e) => e.oid),
  };
}

function parseBasicConstraints(value: Buffer): { ca: boolean; maxPathLength?: number } {
  const [first, second] = derChildren(readWholeDer(value, DER.sequence));
  const ca = first?.tag === DER.boolean && first.content[0] !== 0;
  const length = second ?? (first?.tag === DER.integer ? first : undefined);
  return length === undefined ? { ca } : { ca, maxPathLength: length.content[0] ?? 0 };
}

function firstChild(node: DerNode): DerNode {
  const [first] = derChildren(node);
  if (first === undefined) throw new DerError('empty sequence');
  return first;
}
