// Identities that a trusted proxy in front passes on in headers, believed only with the proxy's own certificate.
import { ownMember } from '../lib/values/plain-object.js';
import { headerText } from '../lib/http/header-text.js';
import { type HttpRequest, headerValues } from '../lib/http/http.js';
import { percentDecode } from '../lib/http/percent-decode.js';
import type { Authenticated, RequestAuthenticator } from './authenticator.js';
import { AuthenticationError } from './authenticator.js';
import type { CertificateVerifier } from './client-certificate.js';

export interface RequestHeaderOptions {
  readonly verifier: CertificateVerifier;
  /** Common names the proxy's certificate may have; empty for any. */
  readonly allowedNames: readonly string[];
  /** In order: the first header with a value wins. */
  readonly usernameHeaders: readonly string[];
  readonly uidHeaders: readonly string[];
  /** All values of all of them count. */
  readonly groupHeaders: readonly string[];
  readonly extraHeaderPrefixes: readonly string[];
}

export function createRequestHeaderAuthenticator(options: RequestHeaderOptions): RequestAuthenticator {
  return {
    authenticate(request: HttpRequest): Authenticated | undefined {
      if (request.clientCertificates.length === 0) return undefined;
      const { commonName } = options.verifier.verify(request.clientCertificates).subjectName;
      if (options.allowedNames.length > 0 && !options.allowedNames.includes(commonName)) {
        throw new AuthenticationError(`x509: subject with cn=${commonName} is not in the allowed list`);
      }
      const name = firstValue(request, options.usernameHeaders);
      if (name === '') return undefined;
      const uid = firstValue(request, options.uidHeaders);
      const groups = options.groupHeaders
        .flatMap((header) => headerValues(request, header.toLowerCase()))
        .filter((group) => group !== '')
        .map(headerText);
      return {
        user: { name, groups, extra: extraOf(request, options.extraHeaderPrefixes), ...(uid === '' ? {} : { uid }) },
      };
    },
  };
}

function firstValue(request: HttpRequest, names: readonly string[]): string {
  for (const name of names) {
    const [value = ''] = headerValues(request, name.toLowerCase());
    if (value !== '') return headerText(value);
  }
  return '';
}

function extraOf(request: HttpRequest, prefixes: readonly string[]): Record<string, string[]> {
  const extra: Record<string, string[]> = Object.create(null) as Record<string, string[]>;
  for (const prefix of prefixes.map((text) => text.toLowerCase())) {
    for (const header of Object.keys(request.headers)) {
      if (!header.startsWith(prefix)) continue;
      // Header names know only some characters, so keys may be percent-encoded.
      const key = percentDecode(header.slice(prefix.length));
      extra[key] = [...(ownMember(extra, key) ?? []), ...headerValues(request, header).map(headerText)];
    }
  }
  return { ...extra };
}
