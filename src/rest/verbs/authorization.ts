import type { AuthorizationAttributes } from '../../authz/authorizer.js';
import { goQuote } from '../../lib/go/quote.js';
import { forbidden, type StatusError } from '../../machinery/status.js';

/** The refusal of an authorizer in the words clients know. */
export function forbiddenByAuthorizer(attributes: AuthorizationAttributes, reason: string): StatusError {
  const { user, verb, apiGroup, resource, subresource, namespace, name } = attributes;
  const what = subresource === '' ? resource : `${resource}/${subresource}`;
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace ${goQuote(namespace)}`;
  const why = `User ${goQuote(user.name)} cannot ${verb} resource ${goQuote(what)} in API group ${goQuote(apiGroup)} ${where}`;
  return forbidden({ group: apiGroup, resource }, name, reason === '' ? why : `${why}: ${reason}`);
}
