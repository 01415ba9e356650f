// Claims as texts and lists of texts, and Go's words for those that are something else.
import { cannotUnmarshal } from '../../lib/go/json-kind.js';
import { CelList, StringList, type Value } from '../../cel/value.js';
import { AuthenticationError } from '../authenticator.js';
import type { Claims } from './compact-token.js';

/** A claim that must be there and be a text; `refuse` says for what it was wanted. */
export function textClaim(claims: Claims, name: string, refuse: (why: string) => AuthenticationError): string {
  if (!Object.hasOwn(claims, name)) throw refuse('claim not present');
  const value = claims[name];
  if (value === null) return '';
  if (typeof value !== 'string') throw refuse(wrongType(value, 'string'));
  return value;
}

/** One text counts as a list of one. */
export function textsClaim(claims: Claims, name: string, refuse: (why: string) => AuthenticationError): string[] {
  const value = claims[name];
  if (value === null) return [];
  if (Array.isArray(value) && value.every((item) => typeof item === 'string' || item === null)) {
    return value.map((item: string | null) => item ?? '');
  }
  if (typeof value !== 'string') throw refuse(wrongType(value, 'string'));
  return [value];
}

export function isVerified(claims: Claims, refuse: (why: string) => AuthenticationError): boolean {
  const value = claims['email_verified'];
  if (value === null) return false;
  if (typeof value !== 'boolean') throw refuse(wrongType(value, 'bool'));
  return value;
}

const wrongType = (value: unknown, type: string): string => cannotUnmarshal(value, `Go value of type ${type}`);

const NO_TEXTS = 'expression must return a string or a list of strings';

/** What an expression made of claims, as texts without the empty ones. Throws an Error with the words for others. */
export function textsOf(value: Value): string[] {
  if (value === null) return [];
  if (typeof value === 'string') return value === '' ? [] : [value];
  // kube-apiserver does not accept lists that its functions on strings make, such as those of split.
  if (!(value instanceof CelList) || value instanceof StringList) throw new Error(NO_TEXTS);
  const texts: string[] = [];
  for (const item of value) {
    if (typeof item !== 'string') throw new Error(NO_TEXTS);
    if (item !== '') texts.push(item);
  }
  return texts;
}
