// Who the claims of a good token are, and whether such a one may come in.
import { type AuthenticationExpression, authenticationValue } from '../../cel/environments/authentication.js';
import { CelError, type Value } from '../../cel/value.js';
import { errorText } from '../../lib/text/error-text.js';
import { goQuote } from '../../lib/go/quote.js';
import { ownMember } from '../../lib/values/plain-object.js';
import type { UserInfo } from '../../machinery/user.js';
import { AuthenticationError } from '../authenticator.js';
import { CREDENTIAL_ID } from '../client-certificate.js';
import { isVerified, textClaim, textsClaim, textsOf } from './claim-values.js';
import type { Claims } from './compact-token.js';

/** How claims become a user: each from a claim or from an expression. */
export interface ClaimMappings {
  readonly username: PrefixedClaim | AuthenticationExpression;
  readonly groups?: PrefixedClaim | AuthenticationExpression;
  readonly uid?: { readonly claim: string } | AuthenticationExpression;
  readonly extra: readonly { readonly key: string; readonly value: AuthenticationExpression }[];
  readonly requiredClaims: readonly { readonly claim: string; readonly value: string }[];
  readonly claimRules: readonly Rule[];
  readonly userRules: readonly Rule[];
}

export interface PrefixedClaim {
  readonly claim: string;
  readonly prefix: string;
}

export interface Rule {
  readonly expression: AuthenticationExpression;
  readonly message: string;
}

const refused = (why: string): AuthenticationError => new AuthenticationError(why);

export function userOfClaims(claims: Claims, mappings: ClaimMappings): UserInfo {
  const value = authenticationValue(claims);
  const name = usernameOf(claims, value, mappings.username);
  const groups = mappings.groups === undefined ? [] : groupsOf(claims, value, mappings.groups);
  const uid = mappings.uid === undefined ? '' : uidOf(claims, value, mappings.uid);
  const extra = extraOf(claims, value, mappings.extra);
  const user: UserInfo = {
    name,
    groups,
    ...(uid !== '' && { uid }),
    ...(Object.keys(extra).length > 0 && { extra }),
  };
  checkRequired(claims, mappings.requiredClaims);
  checkRules(mappings.claimRules, value, 'oidc: error evaluating claim validation expression');
  if (mappings.userRules.length > 0) {
    const userValue = authenticationValue({ username: name, uid, groups, extra });
    checkRules(mappings.userRules, userValue, 'oidc: error evaluating user info validation rule');
  }
  return user;
}

function usernameOf(claims: Claims, value: Value, username: ClaimMappings['username']): string {
  if (!('claim' in username)) {
    const during = 'oidc: error evaluating username claim expression';
    const name = textOf(username, value, during, 'username claim expression must return a string');
    if (name === '') throw refused('oidc: empty username via CEL expression is not allowed');
    return name;
  }
  const name = textClaim(claims, username.claim, (why) =>
    refused(`oidc: parse username claims ${goQuote(username.claim)}: ${why}`),
  );
  if (username.claim === 'email' && Object.hasOwn(claims, 'email_verified')) {
    const verified = isVerified(claims, (why) => refused(`oidc: parse 'email_verified' claim: ${why}`));
    if (!verified) throw refused('oidc: email not verified');
  }
  return username.prefix + name;
}

function groupsOf(claims: Claims, value: Value, groups: NonNullable<ClaimMappings['groups']>): string[] {
  if ('claim' in groups) {
    if (!Object.hasOwn(claims, groups.claim)) return [];
    const names = textsClaim(claims, groups.claim, (why) =>
      refused(`oidc: parse groups claim ${goQuote(groups.claim)}: ${why}`),
    );
    return groups.prefix === '' ? names : names.map((name) => groups.prefix + name);
  }
  const during = 'oidc: error evaluating group claim expression';
  return textsFrom(evaluate(groups, value, `${during}: `), during);
}

function uidOf(claims: Claims, value: Value, uid: NonNullable<ClaimMappings['uid']>): string {
  if ('claim' in uid) {
    return textClaim(claims, uid.claim, (why) => refused(`oidc: parse uid claim ${goQuote(uid.claim)}: ${why}`));
  }
  return textOf(uid, value, 'oidc: error evaluating uid claim expression', 'uid claim expression must return a string');
}

function extraOf(claims: Claims, value: Value, mappings: ClaimMappings['extra']): Record<string, string[]> {
  const extra: Record<string, string[]> = {};
  const tokenId = ownMember(claims, 'jti');
  if (typeof tokenId === 'string' && tokenId !== '') extra[CREDENTIAL_ID] = [`JTI=${tokenId}`];
  const results = mappings.map(({ key, value: expression }) => ({
    key,
    expression,
    made: evaluate(expression, value, ''),
  }));
  for (const { key, expression, made } of results) {
    const texts = textsFrom(made, `oidc: error evaluating extra claim expression: ${expression.text}`);
    if (texts.length > 0) extra[key] = texts;
  }
  return extra;
}

/** Only texts can be required. */
function checkRequired(claims: Claims, required: ClaimMappings['requiredClaims']): void {
  for (const { claim, value } of required) {
    if (!Object.hasOwn(claims, claim)) throw refused(`oidc: required claim ${claim} not present in ID token`);
    const got = textClaim(claims, claim, (why) => refused(`oidc: parse claim ${claim}: ${why}`));
    if (got === value) continue;
    throw refused(`oidc: required claim ${claim} value does not match. Got = ${got}, want = ${value}`);
  }
}

function checkRules(rules: readonly Rule[], subject: Value, during: string): void {
  const results = rules.map(({ expression }) => evaluate(expression, subject, `${during}: `));
  results.forEach((result, index) => {
    if (result === true) return;
    if (result !== false) throw refused(`${during}: validation expression must return a boolean`);
    const { expression, message } = rules[index] as Rule;
    throw refused(`${during}: validation expression '${expression.text}' failed: ${message}`);
  });
}

function evaluate(expression: AuthenticationExpression, subject: Value, during: string): Value {
  const result = expression.evaluate(subject);
  if (!(result instanceof CelError)) return result;
  throw refused(`${during}expression '${expression.text}' resulted in error: ${result.message}`);
}

function textOf(expression: AuthenticationExpression, subject: Value, during: string, wrong: string): string {
  const result = evaluate(expression, subject, `${during}: `);
  if (typeof result !== 'string') throw refused(`${during}: ${wrong}`);
  return result;
}

function textsFrom(result: Value, during: string): string[] {
  try {
    return textsOf(result);
  } catch (error) {
    throw refused(`${during}: ${errorText(error)}`);
  }
}
