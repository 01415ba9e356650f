// Every rule about an AuthenticationConfiguration; its expressions are compiled on the way.
import { append } from '../../lib/values/append.js';
import { FieldPath, type FieldErrors, duplicate, forbidden, invalid, tooMany } from '../../machinery/field-error.js';
import type { AuthenticationConfiguration, JWTAuthenticator } from '../../schema/generated/apiserverconfig.v1.js';
import type { CompiledAuthenticator } from './compiled.js';
import { validateIssuer } from './validate-issuer.js';
import { type CompilationState, validateClaimMappings } from './validate-claim-mappings.js';
import { validateClaimRules, validateUserRules } from './validate-rules.js';
import type { ValidationContext } from './validation-context.js';

export interface Validated {
  readonly errors: FieldErrors;
  /** Only to be used when there are no errors. */
  readonly authenticators: readonly CompiledAuthenticator[];
}

const MAX_AUTHENTICATORS = 64;

export function validateAuthentication(
  { jwt, anonymous }: AuthenticationConfiguration,
  context: ValidationContext,
): Validated {
  const root = FieldPath.of('jwt');
  const list = jwt ?? [];
  if (list.length > MAX_AUTHENTICATORS) {
    return { errors: [tooMany(root, list.length, MAX_AUTHENTICATORS)], authenticators: [] };
  }
  const errors: FieldErrors = [];
  const authenticators: CompiledAuthenticator[] = [];
  const seen = { urls: new Set<string>(), discoveryUrls: new Set<string>() };
  list.forEach((one, index) => {
    const path = root.index(index);
    const judged = validateAuthenticator(one, path, context);
    append(errors, judged.errors);
    authenticators.push(judged.authenticator);
    const { url, discoveryUrl } = judged.authenticator.issuer;
    if (seen.urls.has(url)) errors.push(duplicate(path.child('issuer', 'url'), url));
    seen.urls.add(url);
    if (discoveryUrl === '') return;
    if (seen.discoveryUrls.has(discoveryUrl))
      errors.push(duplicate(path.child('issuer', 'discoveryURL'), discoveryUrl));
    seen.discoveryUrls.add(discoveryUrl);
  });
  append(errors, validateAnonymous(anonymous, context));
  return { errors, authenticators };
}

/** Without a path, as when an authenticator is built: then errors are relative to its own root. */
export function validateAuthenticator(
  { issuer, claimMappings, claimValidationRules, userValidationRules }: JWTAuthenticator,
  path: FieldPath | undefined,
  context: ValidationContext,
): { readonly errors: FieldErrors; readonly authenticator: CompiledAuthenticator } {
  const at = (name: string): FieldPath => path?.child(name) ?? FieldPath.of(name);
  const state: CompilationState = { usesEmail: false, usesEmailVerified: false };
  const judgedIssuer = validateIssuer(issuer, at('issuer'), context);
  const claimRules = validateClaimRules(claimValidationRules ?? [], at('claimValidationRules'), context, state);
  const mappings = validateClaimMappings(claimMappings, at('claimMappings'), context, state);
  const userRules = validateUserRules(userValidationRules ?? [], at('userValidationRules'), context);
  return {
    errors: [...judgedIssuer.errors, ...claimRules.errors, ...mappings.errors, ...userRules.errors],
    authenticator: {
      issuer: judgedIssuer.issuer,
      mappings: {
        ...mappings.mappings,
        requiredClaims: claimRules.requiredClaims,
        claimRules: claimRules.rules,
        userRules: userRules.rules,
      },
    },
  };
}

function validateAnonymous(
  anonymous: AuthenticationConfiguration['anonymous'],
  { features }: ValidationContext,
): FieldErrors {
  if (!anonymous) return [];
  const errors: FieldErrors = [];
  if (!features.enabled('AnonymousAuthConfigurableEndpoints')) {
    errors.push(
      forbidden(
        FieldPath.of('anonymous'),
        'anonymous is not supported when AnonymousAuthConfigurableEnpoints feature gate is disabled',
      ),
    );
  }
  const conditions = anonymous.conditions ?? [];
  if (!anonymous.enabled && conditions.length > 0) {
    const shown = conditions.map(({ path }) => ({ Path: path ?? '' }));
    errors.push(
      invalid(
        FieldPath.of('anonymous', 'conditions'),
        shown,
        'enabled should be set to true when conditions are defined',
      ),
    );
  }
  return errors;
}
