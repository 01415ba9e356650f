// TLS on a connection that was dialed: whom the other side must be, and what we show of ourselves.
import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import tls, { type PeerCertificate, type TLSSocket } from 'node:tls';
import { clientTlsParameters } from '../lib/x509/tls-parameters.js';
import { NO_NAMES } from './certificate-faults.js';
import { OutboundError } from './outbound-error.js';

export interface ClientTls {
  /** Whom to trust, as PEM; the system's roots without it. */
  readonly ca?: string | Buffer;
  /** The client certificate, sent when the server requests one. */
  readonly cert?: string | Buffer;
  readonly key?: string | Buffer;
  /** The name the server's certificate must have; that of the address without it. */
  readonly serverName?: string;
  /** Any certificate will do. */
  readonly insecure?: boolean;
}

export interface HandshakeOptions {
  readonly tls: ClientTls;
  /** Host of the address that was dialed. */
  readonly host: string;
  readonly protocols: readonly string[];
  readonly signal: AbortSignal;
}

const HANDSHAKE_TIMEOUT_MS = 10_000;
const NO_TLS = 'tls: first record does not look like a TLS handshake';

/** The other side answered, but not in TLS. */
export const isNoTls = (error: unknown): boolean => error instanceof OutboundError && error.message === NO_TLS;

/** The connection under TLS, once the other side has shown who it is. Rejects with an OutboundError. */
export function handshake(connection: Duplex, options: HandshakeOptions): Promise<TLSSocket> {
  const { tls: wanted, signal } = options;
  const name = wanted.serverName ?? options.host;
  return new Promise((resolve, reject) => {
    let socket: TLSSocket;
    try {
      socket = tls.connect({
        ...secureOptions(wanted, name),
        socket: connection,
        ALPNProtocols: [...options.protocols],
      });
    } catch (error) {
      connection.destroy();
      reject(new OutboundError('tls', `tls: ${error instanceof Error ? error.message : String(error)}`, error));
      return;
    }
    const timer = setTimeout(
      () => fail(new OutboundError('timeout', 'net/http: TLS handshake timeout')),
      HANDSHAKE_TIMEOUT_MS,
    );
    const settle = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      socket.removeListener('error', onError);
      socket.removeListener('close', onClose);
    };
    const fail = (error: OutboundError): void => {
      settle();
      socket.on('error', () => undefined).destroy();
      connection.destroy();
      reject(error);
    };
    const onAbort = (): void => fail(OutboundError.aborted(signal));
    const onError = (error: Error): void => fail(new OutboundError('tls', tlsErrorText(error, name), error));
    const onClose = (): void => fail(new OutboundError('tls', 'EOF'));
    socket.once('error', onError);
    socket.once('close', onClose);
    signal.addEventListener('abort', onAbort, { once: true });
    socket.once('secureConnect', () => {
      if (wanted.insecure !== true && !socket.authorized) {
        fail(new OutboundError('tls', verifyErrorText(socket, name)));
        return;
      }
      settle();
      resolve(socket);
    });
    if (signal.aborted) onAbort();
  });
}

/** Options of `tls.connect` that verify the peer as `name`. */
function secureOptions(wanted: ClientTls, name: string): tls.ConnectionOptions {
  return {
    ...(wanted.ca === undefined ? {} : { ca: wanted.ca }),
    ...(wanted.cert === undefined ? {} : { cert: wanted.cert }),
    ...(wanted.key === undefined ? {} : { key: wanted.key }),
    ...(isIP(name) === 0 ? { servername: name } : {}),
    ...clientTlsParameters(),
    // Judged in `handshake`, while the certificate is still at hand to say what is wrong with it.
    rejectUnauthorized: false,
    // A certificate that is trusted itself need not have a signer that is.
    allowPartialTrustChain: true,
    // The certificate is checked against `name`, also when the address has no host name.
    checkServerIdentity: (_host, certificate) => checkName(name, certificate),
  } as tls.ConnectionOptions;
}

/** Names stand in the alternative names alone: the common name has not counted for long. */
function checkName(name: string, certificate: PeerCertificate): Error | undefined {
  const entries = (certificate.subjectaltname ?? '').split(', ').filter((entry) => entry !== '');
  const withoutSubject = { ...certificate, subject: {} } as PeerCertificate;
  if (entries.length > 0 && tls.checkServerIdentity(name, withoutSubject) === undefined) return undefined;
  return new Error(nameErrorText(name, entries, commonNameOf(certificate)));
}

/** Its type says otherwise, but there may be none, or several. */
const commonNameOf = ({ subject }: PeerCertificate): string =>
  [(subject as { readonly CN?: string | string[] } | undefined)?.CN ?? ''].flat().at(-1) ?? '';

function nameErrorText(name: string, entries: readonly string[], commonName: string): string {
  if (entries.length === 0 && isNameFor(commonName, name)) return NO_NAMES;
  const of = (kind: string): string[] =>
    entries.filter((entry) => entry.startsWith(kind)).map((entry) => entry.slice(kind.length));
  const names = of('DNS:');
  const addresses = of('IP Address:');
  if (isIP(name) !== 0) {
    if (addresses.length === 0)
      return `x509: cannot validate certificate for ${name} because it doesn't contain any IP SANs`;
    return `x509: certificate is valid for ${addresses.join(', ')}, not ${name}`;
  }
  if (names.length === 0) return `x509: certificate is not valid for any names, but wanted to match ${name}`;
  return `x509: certificate is valid for ${names.join(', ')}, not ${name}`;
}

/** Label by label; the first may be a star. */
function isNameFor(pattern: string, name: string): boolean {
  const wanted = name.toLowerCase().replace(/\.$/, '').split('.');
  const parts = pattern.toLowerCase().split('.');
  if (pattern === '' || parts.length !== wanted.length) return false;
  return parts.every((part, i) => part === wanted[i] || (i === 0 && part === '*'));
}

const UNKNOWN_AUTHORITY = 'x509: certificate signed by unknown authority';

const VERIFY_TEXTS: Readonly<Record<string, string>> = {
  UNABLE_TO_GET_ISSUER_CERT: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_AUTHORITY,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_AUTHORITY,
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_AUTHORITY,
  DEPTH_ZERO_SELF_SIGNED_CERT: UNKNOWN_AUTHORITY,
  CERT_UNTRUSTED: UNKNOWN_AUTHORITY,
  CERT_SIGNATURE_FAILURE: UNKNOWN_AUTHORITY,
  INVALID_CA: 'x509: invalid signature: parent certificate cannot sign this kind of certificate',
  INVALID_PURPOSE: 'x509: certificate specifies an incompatible key usage',
};

function verifyErrorText(socket: TLSSocket, name: string): string {
  const found = String(socket.authorizationError);
  const text =
    // A wrong name is reported before an untrusted issuer.
    checkName(name, socket.getPeerCertificate())?.message ??
    VERIFY_TEXTS[found] ??
    (isValidity(found) ? validityText(found, socket) : found);
  return `tls: failed to verify certificate: ${text}`;
}

const isValidity = (code: string): boolean => code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID';

function tlsErrorText(error: Error, name: string): string {
  const { code = '' } = error as NodeJS.ErrnoException;
  if (code === 'ECONNRESET' || code === 'EPIPE') return 'EOF';
  if (code === 'ERR_SSL_WRONG_VERSION_NUMBER') return NO_TLS;
  const number = /SSL alert number (\d{1,3})/.exec(error.message)?.[1];
  if (number === undefined) return `tls: ${error.message} (${name})`;
  return `remote error: tls: ${ALERTS.get(Number(number)) ?? `alert(${number})`}`;
}

/** What the other side says is wrong, by TLS's number for it. */
const ALERTS: ReadonlyMap<number, string> = new Map([
  [10, 'unexpected message'],
  [20, 'bad record MAC'],
  [21, 'decryption failed'],
  [22, 'record overflow'],
  [30, 'decompression failure'],
  [40, 'handshake failure'],
  [42, 'bad certificate'],
  [43, 'unsupported certificate'],
  [44, 'revoked certificate'],
  [45, 'expired certificate'],
  [46, 'unknown certificate'],
  [47, 'illegal parameter'],
  [48, 'unknown certificate authority'],
  [49, 'access denied'],
  [50, 'error decoding message'],
  [51, 'error decrypting message'],
  [60, 'export restriction'],
  [70, 'protocol version not supported'],
  [71, 'insufficient security level'],
  [80, 'internal error'],
  [86, 'inappropriate fallback'],
  [90, 'user canceled'],
  [100, 'no renegotiation'],
  [109, 'missing extension'],
  [110, 'unsupported extension'],
  [111, 'certificate unobtainable'],
  [112, 'unrecognized name'],
  [113, 'bad certificate status response'],
  [114, 'bad certificate hash value'],
  [115, 'unknown PSK identity'],
  [116, 'certificate required'],
  [120, 'no application protocol'],
]);

function validityText(code: string, socket: TLSSocket): string {
  const certificate = socket.getPeerCertificate();
  const at = (text: string): string => new Date(text).toISOString().replace('.000Z', 'Z');
  const now = at(new Date(Math.floor(Date.now() / 1000) * 1000).toISOString());
  const limit =
    code === 'CERT_HAS_EXPIRED' ? `after ${at(certificate.valid_to)}` : `before ${at(certificate.valid_from)}`;
  return `x509: certificate has expired or is not yet valid: current time ${now} is ${limit}`;
}
