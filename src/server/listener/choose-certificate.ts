// Which certificate a client is shown, as kube-apiserver chooses: by the server name as it is, then with its first label
// as a wildcard; without a name by the address that the client called. For all others the first certificate that the
// client can verify: it is made out for the name, if there is one, and its key signs by an algorithm that the client has.
import type { X509Certificate } from 'node:crypto';
import type { TlsOptions } from 'node:tls';
import { TLS_1_2_SUITE_NUMBERS } from '../../lib/x509/cipher-suites.js';
import { GROUP_NUMBERS } from '../../lib/x509/tls-parameters.js';
import type { ClientHello } from './client-hello.js';

export interface ShownCertificate {
  readonly leaf: X509Certificate;
  /** With its chain and key: what a tls.Server is made with that shows it. */
  readonly options: TlsOptions;
}

export interface CertificateChoice {
  readonly byDefault: ShownCertificate;
  readonly others: readonly ShownCertificate[];
  /** By server name, wildcards and addresses among them. */
  readonly byName: ReadonlyMap<string, ShownCertificate>;
  /** The suites of TLS 1.2 that the server offers, by the names that flags have for them. */
  readonly suites: readonly string[];
}

/** Of a client whose first message cannot be read `hello` is `undefined`. */
export function chooseCertificate(
  choice: CertificateChoice,
  hello: ClientHello | undefined,
  localAddress: string,
): ShownCertificate {
  const { byDefault, others, byName } = choice;
  if (hello === undefined) return byDefault;
  const { serverName } = hello;
  const named =
    serverName === '' ? byName.get(localAddress) : (byName.get(serverName) ?? byName.get(wildcardOf(serverName)));
  return named ?? [byDefault, ...others].find(({ leaf }) => canVerify(hello, leaf, choice.suites)) ?? byDefault;
}

function wildcardOf(name: string): string {
  const dot = name.indexOf('.');
  return dot === -1 ? '*' : `*${name.slice(dot)}`;
}

const IN_ALTERNATIVE_NAMES = { subject: 'never', partialWildcards: false } as const;
const TLS_1_3 = 0x0304;

function canVerify(hello: ClientHello, leaf: X509Certificate, offered: readonly string[]): boolean {
  const { serverName, versions, groups, signatureSchemes } = hello;
  if (serverName !== '' && leaf.checkHost(serverName, IN_ALTERNATIVE_NAMES) === undefined) return false;
  const key = keyOf(leaf);
  if (key === undefined) return false;
  const hasScheme = (schemes: readonly number[]): boolean =>
    signatureSchemes.length === 0 || schemes.some((scheme) => signatureSchemes.includes(scheme));
  if (versions.includes(TLS_1_3)) return hasScheme(key.schemes);
  const hasSuite = (exchange: string): boolean =>
    offered.some((suite) => suite.startsWith(exchange) && hello.suites.includes(TLS_1_2_SUITE_NUMBERS[suite] ?? -1));
  // A key exchange by RSA itself needs no signature.
  if (key.signs === 'RSA' && hasSuite('TLS_RSA_')) return true;
  if (!hasScheme(key.olderSchemes) || !groups.some((group) => GROUP_NUMBERS.includes(group))) return false;
  if (key.group !== undefined && !groups.includes(key.group)) return false;
  return hasSuite(`TLS_ECDHE_${key.signs}_`);
}

interface Key {
  /** As suites of TLS 1.2 name it. */
  readonly signs: 'ECDSA' | 'RSA';
  /** What it can sign by in TLS 1.3, and in TLS 1.2. */
  readonly schemes: readonly number[];
  readonly olderSchemes: readonly number[];
  /** In TLS 1.2 a client must know the curve of the key. */
  readonly group?: number;
}

const RSA_PSS = [0x0804, 0x0805, 0x0806];
const RSA_PKCS1 = [0x0401, 0x0501, 0x0601, 0x0201];
const ECDSA = [0x0403, 0x0503, 0x0603, 0x0203];
const ED25519 = [0x0807];

const CURVES: Readonly<Record<string, { readonly group: number; readonly scheme: number }>> = {
  prime256v1: { group: 0x17, scheme: 0x0403 },
  secp384r1: { group: 0x18, scheme: 0x0503 },
  secp521r1: { group: 0x19, scheme: 0x0603 },
};

function keyOf({ publicKey }: X509Certificate): Key | undefined {
  switch (publicKey.asymmetricKeyType) {
    case 'rsa':
      return { signs: 'RSA', schemes: RSA_PSS, olderSchemes: [...RSA_PSS, ...RSA_PKCS1] };
    case 'ed25519':
      return { signs: 'ECDSA', schemes: ED25519, olderSchemes: ED25519 };
    case 'ec': {
      const curve = CURVES[publicKey.asymmetricKeyDetails?.namedCurve ?? ''];
      return curve && { signs: 'ECDSA', schemes: [curve.scheme], olderSchemes: ECDSA, group: curve.group };
    }
    default:
      return undefined;
  }
}
