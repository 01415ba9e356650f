import { certificateBundleFault } from '../../lib/x509/certificate.js';
import { parseGoUrl } from '../../lib/go/url.js';
import { type FieldErrors, type FieldPath, duplicate, invalid, required, named } from '../../machinery/field-error.js';
import type { Issuer } from '../../schema/generated/apiserverconfig.v1.js';
import type { CompiledAuthenticator } from './compiled.js';
import type { ValidationContext } from './validation-context.js';

const MATCH_ANY = 'MatchAny';

export function validateIssuer(
  issuer: Issuer | undefined,
  path: FieldPath,
  context: ValidationContext,
): { readonly errors: FieldErrors; readonly issuer: CompiledAuthenticator['issuer'] } {
  const { url = '', discoveryURL, audiences, audienceMatchPolicy = '', certificateAuthority = '' } = issuer ?? {};
  const selector = issuer?.egressSelectorType ?? '';
  const discoveryUrl = discoveryURL ?? '';
  const structured = context.features.enabled('StructuredAuthenticationConfiguration');
  const errors = [
    ...(url === '' ? [required(path.child('url'))] : urlErrors(url, path.child('url'), context.disallowedIssuers)),
    ...discoveryUrlErrors(url, discoveryUrl, path.child('discoveryURL'), structured),
    ...audienceErrors(audiences ?? [], audienceMatchPolicy, path, structured),
    ...authorityErrors(certificateAuthority, path.child('certificateAuthority')),
    ...egressErrors(selector, path.child('egressSelectorType'), structured, context),
  ];
  return {
    errors,
    issuer: {
      url,
      discoveryUrl,
      certificateAuthority,
      audiences: audiences ?? [],
      egressSelectorType: selector === 'controlplane' || selector === 'cluster' ? selector : '',
    },
  };
}

function discoveryUrlErrors(url: string, discoveryUrl: string, path: FieldPath, structured: boolean): FieldErrors {
  if (discoveryUrl === '') return [];
  const errors: FieldErrors = [];
  if (!structured) errors.push(invalid(path, discoveryUrl, `discoveryURL is ${WITHOUT_GATE}`));
  if (url !== '' && withoutSlashes(url) === withoutSlashes(discoveryUrl)) {
    errors.push(invalid(path, discoveryUrl, 'discoveryURL must be different from URL'));
  }
  return [...errors, ...urlErrors(discoveryUrl, path, [])];
}

function withoutSlashes(url: string): string {
  let end = url.length;
  while (url[end - 1] === '/') end--;
  return url.slice(0, end);
}

function urlErrors(url: string, path: FieldPath, disallowed: readonly string[]): FieldErrors {
  const errors: FieldErrors = [];
  const say = (why: string): void => void errors.push(invalid(path, url, why));
  if (disallowed.includes(url)) {
    say(`URL must not overlap with disallowed issuers: [${[...new Set(disallowed)].toSorted().join(' ')}]`);
  }
  const parsed = parseGoUrl(url);
  if ('error' in parsed) {
    say(parsed.error);
    return errors;
  }
  if (parsed.scheme !== 'https') say('URL scheme must be https');
  if (parsed.user !== undefined) say('URL must not contain a username or password');
  if (parsed.rawQuery !== '') say('URL must not contain a query');
  if (parsed.fragment !== '') say('URL must not contain a fragment');
  return errors;
}

const WITHOUT_GATE = 'not supported when StructuredAuthenticationConfiguration feature gate is disabled';

function audienceErrors(
  audiences: readonly string[],
  policy: string,
  issuerPath: FieldPath,
  structured: boolean,
): FieldErrors {
  const path = issuerPath.child('audiences');
  if (audiences.length === 0) return [required(path, `at least one ${path.toString()} is required`)];
  const errors: FieldErrors = [];
  if (audiences.length > 1 && !structured)
    errors.push(invalid(path, audiences, `multiple audiences are ${WITHOUT_GATE}`));
  const seen = new Set<string>();
  audiences.forEach((audience, index) => {
    if (audience === '') errors.push(required(path.index(index)));
    if (seen.has(audience)) errors.push(duplicate(path.index(index), audience));
    seen.add(audience);
  });
  const policyPath = issuerPath.child('audienceMatchPolicy');
  if (audiences.length > 1 && policy !== MATCH_ANY) {
    errors.push(invalid(policyPath, named(policy), 'audienceMatchPolicy must be MatchAny for multiple audiences'));
  }
  if (audiences.length === 1 && policy !== '' && policy !== MATCH_ANY) {
    errors.push(
      invalid(policyPath, named(policy), 'audienceMatchPolicy must be empty or MatchAny for single audience'),
    );
  }
  return errors;
}

/** The certificates are nobody's secret, but a mistake here may be somebody's key: errors leave the text out. */
function authorityErrors(pem: string, path: FieldPath): FieldErrors {
  const why = pem === '' ? undefined : certificateBundleFault(pem);
  return why === undefined ? [] : [invalid(path, '<omitted>', why)];
}

function egressErrors(
  selector: string,
  path: FieldPath,
  structured: boolean,
  { features }: ValidationContext,
): FieldErrors {
  if (selector === '') return [];
  const errors: FieldErrors = [];
  if (!structured) errors.push(invalid(path, named(selector), `egress selector is ${WITHOUT_GATE}`));
  if (!features.enabled('StructuredAuthenticationConfigurationEgressSelector')) {
    errors.push(
      invalid(
        path,
        named(selector),
        'egress selector is not supported when StructuredAuthenticationConfigurationEgressSelector feature gate is disabled',
      ),
    );
  }
  if (selector !== 'controlplane' && selector !== 'cluster') {
    errors.push(invalid(path, named(selector), 'egress selector must be either controlplane or cluster'));
  }
  return errors;
}
