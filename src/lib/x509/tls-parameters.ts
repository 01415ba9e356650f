// What is offered in a TLS handshake, as a server and as a client: the versions, groups and cipher suites that
// kube-apiserver offers. Every TLS context and connection is made with these.
import { constants } from 'node:crypto';
import tls, { type SecureContextOptions, type SecureVersion } from 'node:tls';
import { CIPHER_SUITES, DEFAULT_SUITES, TLS_1_3_SUITES } from './cipher-suites.js';
import { once } from '../values/once.js';

export interface OfferedTls {
  readonly minVersion?: SecureVersion;
  /** By the names that flags have for them; empty for the defaults. Those of TLS 1.3 are offered always. */
  readonly cipherSuites?: readonly string[];
}

export type TlsParameters = Pick<SecureContextOptions, 'minVersion' | 'ciphers' | 'ecdhCurve' | 'secureOptions'>;

export function serverTlsParameters({ minVersion = 'TLSv1.2', cipherSuites = [] }: OfferedTls): TlsParameters {
  return {
    minVersion,
    ciphers: openSslCiphers({ cipherSuites }),
    ecdhCurve: offeredGroups(),
    // A resumed session no longer has the client's intermediate certificates. ChaCha comes first for clients that name
    // it first: they have no hardware for AES.
    secureOptions: constants.SSL_OP_NO_TICKET | constants.SSL_OP_PRIORITIZE_CHACHA,
  };
}

export const clientTlsParameters = once((): TlsParameters => ({
  minVersion: 'TLSv1.2',
  ciphers: openSslCiphers({}),
  ecdhCurve: offeredGroups(),
  secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
}));

/**
 * In kube-apiserver's order. OpenSSL's own list goes on with finite fields (ffdhe2048 to ffdhe8192), where the answer to
 * one small packet takes up to half a second of the thread (CVE-2002-20001).
 */
const GROUPS = { X25519MLKEM768: 0x11ec, X25519: 0x1d, 'P-256': 0x17, 'P-384': 0x18, 'P-521': 0x19 };

/** The hybrid group needs OpenSSL 3.5. */
const offeredGroups = once(() => Object.keys(GROUPS).filter(isKnownGroup).join(':'));

/** As clients name them in a handshake. */
export const GROUP_NUMBERS: readonly number[] = Object.values(GROUPS);

function isKnownGroup(group: string): boolean {
  try {
    // An empty list of authorities: the public roots need not be loaded for this.
    tls.createSecureContext({ ecdhCurve: group, ca: [] });
    return true;
  } catch {
    return false;
  }
}

/** The suites of TLS 1.2 that are offered, by the names that flags have for them. */
export const offeredSuites = ({ cipherSuites = [] }: OfferedTls): readonly string[] =>
  cipherSuites.length > 0 ? cipherSuites : Object.keys(DEFAULT_SUITES);

/** The names were checked with the flags; a suite that this OpenSSL does not have is left out. */
function openSslCiphers(chosen: OfferedTls): string {
  const offered = new Set([...Object.keys(TLS_1_3_SUITES), ...offeredSuites(chosen)]);
  const known = new Set(tls.getCiphers());
  const ciphers = Object.entries(CIPHER_SUITES).flatMap(([suite, cipher]) => (offered.has(suite) ? cipher : []));
  return [...new Set(ciphers)].filter((cipher) => known.has(cipher.toLowerCase())).join(':');
}
