// PKCS #10 certificate requests: who wants a certificate, and the proof that they hold the key.
import { type KeyObject, constants, createPublicKey, verify } from 'node:crypto';
import { DER, DerError, derChildren, derOid, readWholeDer } from './der.js';
import { type DistinguishedName, parseDistinguishedName } from './distinguished-name.js';
import { decodePem } from './pem.js';

export interface CertificateRequest {
  readonly subject: DistinguishedName;
  readonly publicKey: KeyObject;
  /** Throws when the request is not signed by its own key. */
  checkSignature(): void;
}

/** From the PEM text of a CertificateSigningRequest. Throws an Error for people to read. */
export function parseCertificateRequestPem(pem: string): CertificateRequest {
  const [block] = decodePem(pem);
  if (block === undefined || block.type !== 'CERTIFICATE REQUEST') {
    throw new Error('PEM block type must be CERTIFICATE REQUEST');
  }
  return parseCertificateRequest(block.bytes);
}

function parseCertificateRequest(der: Buffer): CertificateRequest {
  const [info, algorithm, signature] = derChildren(readWholeDer(der, DER.sequence));
  if (info === undefined || algorithm === undefined || signature?.tag !== DER.bitString) {
    throw new DerError('malformed certificate request');
  }
  const [, subject, keyInfo] = derChildren(info);
  const [oid] = derChildren(algorithm);
  if (subject === undefined || keyInfo === undefined || oid === undefined) {
    throw new DerError('malformed certificate request');
  }
  const publicKey = createPublicKey({ key: keyInfo.raw, format: 'der', type: 'spki' });
  return {
    subject: parseDistinguishedName(subject),
    publicKey,
    checkSignature() {
      const rule = SIGNATURES[derOid(oid)];
      if (rule === undefined) throw new Error('x509: cannot verify signature: algorithm unimplemented');
      // A bit string begins with the count of its unused bits.
      const bytes = signature.content.subarray(1);
      const key = rule.pss === true ? { key: publicKey, padding: constants.RSA_PKCS1_PSS_PADDING } : publicKey;
      if (!verify(rule.digest, info.raw, key, bytes)) throw new Error(failureOf(publicKey));
    },
  };
}

const SIGNATURES: Readonly<Record<string, { digest: string | null; pss?: boolean } | undefined>> = {
  '1.2.840.113549.1.1.5': { digest: 'sha1' },
  '1.2.840.113549.1.1.11': { digest: 'sha256' },
  '1.2.840.113549.1.1.12': { digest: 'sha384' },
  '1.2.840.113549.1.1.13': { digest: 'sha512' },
  '1.2.840.113549.1.1.10': { digest: 'sha256', pss: true },
  '1.2.840.10045.4.1': { digest: 'sha1' },
  '1.2.840.10045.4.3.2': { digest: 'sha256' },
  '1.2.840.10045.4.3.3': { digest: 'sha384' },
  '1.2.840.10045.4.3.4': { digest: 'sha512' },
  '1.3.101.112': { digest: null },
};

function failureOf(key: KeyObject): string {
  switch (key.asymmetricKeyType) {
    case 'rsa':
      return 'crypto/rsa: verification error';
    case 'ec':
      return 'x509: ECDSA verification failure';
    default:
      return 'x509: Ed25519 verification failure';
  }
}
