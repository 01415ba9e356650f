import { append } from '../../lib/values/append.js';
import type { ClaimMappings as CompiledMappings, PrefixedClaim } from '../../authn/jwt/user-of-claims.js';
import type { AuthenticationExpression } from '../../cel/environments/authentication.js';
import { type FieldErrors, type FieldPath, duplicate, invalid, required } from '../../machinery/field-error.js';
import { isDomainPrefixedPath } from '../../machinery/validation/fields.js';
import type {
  ClaimMappings,
  ClaimOrExpression,
  ExtraMapping,
  PrefixedClaimOrExpression,
} from '../../schema/generated/apiserverconfig.v1.js';
import { compileExpression } from './compile-expression.js';
import type { ValidationContext } from './validation-context.js';

/** What was seen in the expressions of one authenticator. */
export interface CompilationState {
  usesEmail: boolean;
  usesEmailVerified: boolean;
}

type Mappings = Pick<CompiledMappings, 'username' | 'groups' | 'uid' | 'extra'>;

const BOTH = "claim and expression can't both be set";
const WITHOUT_GATE = 'not supported when StructuredAuthenticationConfiguration feature gate is disabled';
const EMAIL_UNVERIFIED =
  'claims.email_verified must be used in claimMappings.username.expression or claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when claims.email is used in claimMappings.username.expression';

export function validateClaimMappings(
  given: ClaimMappings | undefined,
  path: FieldPath,
  context: ValidationContext,
  state: CompilationState,
): { readonly errors: FieldErrors; readonly mappings: Mappings } {
  const { username: usernameGiven = {}, groups: groupsGiven = {}, uid: uidGiven = {}, extra: extraGiven } = given ?? {};
  const username = prefixedOrExpression(usernameGiven, path.child('username'), context, true);
  // What is wrong in itself is not looked into.
  if (username.errors.length === 0 && username.mapping !== undefined && !('claim' in username.mapping)) {
    state.usesEmail ||= username.mapping.selects('email');
    state.usesEmailVerified ||= username.mapping.selects('email_verified');
  }
  const groups = prefixedOrExpression(groupsGiven, path.child('groups'), context, false);
  const uid = claimOrExpression(uidGiven, path.child('uid'), context);
  const extra = extraMappings(extraGiven ?? [], path.child('extra'), context, state);
  const errors = [
    ...gateErrors(given, path, context),
    ...username.errors,
    ...groups.errors,
    ...uid.errors,
    ...extra.errors,
  ];
  if (state.usesEmail && !state.usesEmailVerified) {
    errors.push(invalid(path.child('username', 'expression'), usernameGiven.expression ?? '', EMAIL_UNVERIFIED));
  }
  return {
    errors,
    mappings: {
      username: username.mapping ?? { claim: '', prefix: '' },
      ...(groups.mapping !== undefined && { groups: groups.mapping }),
      ...(uid.mapping !== undefined && { uid: uid.mapping }),
      extra: extra.mappings,
    },
  };
}

function gateErrors(
  { username, groups, uid, extra }: Partial<ClaimMappings> = {},
  path: FieldPath,
  { features }: ValidationContext,
): FieldErrors {
  if (features.enabled('StructuredAuthenticationConfiguration')) return [];
  const errors: FieldErrors = [];
  for (const [name, mapping] of [
    ['username', username],
    ['groups', groups],
  ] as const) {
    if (mapping?.expression) errors.push(invalid(path.child(name, 'expression'), mapping.expression, WITHOUT_GATE));
  }
  if (uid?.claim || uid?.expression) errors.push(invalid(path.child('uid'), '', `claim mapping is ${WITHOUT_GATE}`));
  if ((extra ?? []).length > 0) errors.push(invalid(path.child('extra'), '', `claim mapping is ${WITHOUT_GATE}`));
  return errors;
}

function prefixedOrExpression(
  { claim = '', prefix, expression = '' }: PrefixedClaimOrExpression,
  path: FieldPath,
  { compiler }: ValidationContext,
  isRequired: boolean,
): { readonly errors: FieldErrors; readonly mapping?: PrefixedClaim | AuthenticationExpression } {
  const hasPrefix = prefix !== undefined && prefix !== null;
  if (expression !== '' && claim !== '') return { errors: [invalid(path, '', BOTH)] };
  if (expression !== '') {
    const why = 'may not be specified when expression is set';
    const prefixErrors = hasPrefix ? [invalid(path.child('prefix'), prefix, why)] : [];
    const compiled = compileExpression(compiler, {
      text: expression,
      subject: 'claims',
      returns: 'any',
      path: path.child('expression'),
    });
    const errors = [...prefixErrors, ...compiled.errors];
    return { errors, ...(compiled.expression !== undefined && { mapping: compiled.expression }) };
  }
  if (claim === '') return { errors: isRequired ? [required(path, 'claim or expression is required')] : [] };
  const why = 'prefix is required when claim is set. It can be set to an empty string to disable prefixing';
  return {
    errors: hasPrefix ? [] : [required(path.child('prefix'), why)],
    mapping: { claim, prefix: prefix ?? '' },
  };
}

function claimOrExpression(
  { claim = '', expression = '' }: ClaimOrExpression,
  path: FieldPath,
  { compiler }: ValidationContext,
): { readonly errors: FieldErrors; readonly mapping?: { readonly claim: string } | AuthenticationExpression } {
  if (claim !== '' && expression !== '') return { errors: [invalid(path, '', BOTH)] };
  if (claim !== '') return { errors: [], mapping: { claim } };
  if (expression === '') return { errors: [] };
  const compiled = compileExpression(compiler, {
    text: expression,
    subject: 'claims',
    returns: 'any',
    path: path.child('expression'),
  });
  return { errors: compiled.errors, ...(compiled.expression !== undefined && { mapping: compiled.expression }) };
}

function extraMappings(
  list: readonly ExtraMapping[],
  path: FieldPath,
  { compiler }: ValidationContext,
  state: CompilationState,
): { readonly errors: FieldErrors; readonly mappings: CompiledMappings['extra'] } {
  const errors: FieldErrors = [];
  const mappings: { key: string; value: AuthenticationExpression }[] = [];
  const seen = new Set<string>();
  list.forEach(({ key, valueExpression }, index) => {
    const at = path.index(index);
    append(errors, isDomainPrefixedPath(at.child('key'), key));
    if (key !== key.toLowerCase()) errors.push(invalid(at.child('key'), key, 'must be lowercase'));
    if (isReserved(key)) {
      const why = 'k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use';
      errors.push(invalid(at.child('key'), key, why));
    }
    if (seen.has(key)) {
      errors.push(duplicate(at.child('key'), key));
      return;
    }
    seen.add(key);
    if (valueExpression === '') {
      errors.push(required(at.child('valueExpression')));
      return;
    }
    const compiled = compileExpression(compiler, {
      text: valueExpression,
      subject: 'claims',
      returns: 'any',
      path: at.child('valueExpression'),
    });
    append(errors, compiled.errors);
    if (compiled.expression === undefined) return;
    state.usesEmailVerified ||= compiled.expression.selects('email_verified');
    mappings.push({ key, value: compiled.expression });
  });
  return { errors, mappings };
}

const RESERVED_DOMAINS = ['kubernetes.io', 'k8s.io'];

function isReserved(key: string): boolean {
  const slash = key.indexOf('/');
  const domain = slash === -1 ? '' : key.slice(0, slash);
  return RESERVED_DOMAINS.some((reserved) => domain === reserved || domain.endsWith(`.${reserved}`));
}
