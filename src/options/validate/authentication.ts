import { goQuote } from '../../lib/go/quote.js';
import { parseGoUrl } from '../../lib/go/url.js';
import type { Options } from '../options.js';

export function authenticationErrors(options: Options): string[] {
  const { authentication, generate } = options;
  return [
    ...oidcErrors(options),
    ...issuerErrors(authentication.serviceAccountIssuer),
    ...(generate.serviceAccountKeys ? [] : missingKeyErrors(options)),
    ...jwksErrors(authentication.serviceAccountJwksUri),
    ...nodeBindingErrors(options),
    ...requestHeaderErrors(options),
  ];
}

function oidcErrors({ authentication, setFlags, featureGates }: Options): string[] {
  const oidcGiven = [...setFlags].some((flag) => flag.startsWith('oidc-'));
  if (authentication.authenticationConfig === '') {
    const incomplete = authentication.oidcIssuerUrl === '' || authentication.oidcClientId === '';
    return oidcGiven && incomplete
      ? ['oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set']
      : [];
  }
  const errors: string[] = [];
  if (!featureGates.enabled('StructuredAuthenticationConfiguration')) {
    errors.push('set --feature-gates=StructuredAuthenticationConfiguration=true to use authentication-config file');
  }
  if (oidcGiven) errors.push('authentication-config file and oidc-* flags are mutually exclusive');
  return errors;
}

function issuerErrors(issuers: readonly string[]): string[] {
  const errors: string[] = [];
  const seen = new Set<string>();
  for (const issuer of issuers) {
    const url = issuer.includes(':') ? parseGoUrl(issuer) : undefined;
    if (url !== undefined && 'error' in url) {
      errors.push(`service-account-issuer ${goQuote(issuer)} contained a ':' but was not a valid URL: ${url.error}`);
    } else if (issuer === '') {
      errors.push('service-account-issuer should not be an empty string');
    } else if (seen.has(issuer)) {
      errors.push(`service-account-issuer ${goQuote(issuer)} is already specified`);
    }
    seen.add(issuer);
  }
  return errors;
}

function missingKeyErrors({ authentication, misc }: Options): string[] {
  const errors: string[] = [];
  if (authentication.serviceAccountIssuer.length === 0) errors.push('service-account-issuer is a required flag');
  if (authentication.serviceAccountKeyFile.length === 0 && misc.serviceAccountSigningEndpoint === '') {
    errors.push('either `--service-account-key-file` or `--service-account-signing-endpoint` must be set');
  }
  return errors;
}

function jwksErrors(uri: string): string[] {
  if (uri === '') return [];
  const url = parseGoUrl(uri);
  if ('error' in url) return [`service-account-jwks-uri must be a valid URL: ${url.error}`];
  return url.scheme === 'https' ? [] : [`service-account-jwks-uri requires https scheme, parsed as: ${uri}`];
}

function nodeBindingErrors({ featureGates }: Options): string[] {
  const [feature, needed] = ['ServiceAccountTokenNodeBinding', 'ServiceAccountTokenNodeBindingValidation'] as const;
  if (!featureGates.enabled(feature) || featureGates.enabled(needed)) return [];
  return [`the "${feature}" feature gate can only be enabled if the "${needed}" feature gate is also enabled`];
}

function requestHeaderErrors({ authentication, featureGates }: Options): string[] {
  const errors: string[] = [];
  const blank = (flag: string, values: readonly string[]) => {
    if (values.some((value) => value.trim() === '')) errors.push(`empty value in ${goQuote(flag)}`);
  };
  blank('requestheader-username-headers', authentication.requestheaderUsernameHeaders);
  blank('requestheader-group-headers', authentication.requestheaderGroupHeaders);
  blank('requestheader-extra-headers-prefix', authentication.requestheaderExtraHeadersPrefix);
  blank('requestheader-allowed-names', authentication.requestheaderAllowedNames);
  const uidHeaders = authentication.requestheaderUidHeaders;
  if (uidHeaders.length > 0 && !featureGates.enabled('RemoteRequestHeaderUID')) {
    errors.push('--requestheader-uid-headers requires the "RemoteRequestHeaderUID" feature to be enabled');
  } else if (uidHeaders.length > 0) {
    blank('requestheader-uid-headers', uidHeaders);
    if (!uidHeaders.some((header) => header.toLowerCase() === 'x-remote-uid')) {
      errors.push(
        '--requestheader-uid-headers is set without specifying the standard X-Remote-Uid header - API aggregation will not work',
      );
    }
  }
  return errors;
}
