// `/api/v1/namespaces//pods/a`: the path of what lies in a namespace, without the name of one.
import { badRequest, type StatusError } from '../../machinery/status.js';
import type { Addressed } from './accept-body.js';
import type { Endpoint } from '../contract/endpoint.js';

export function requireNamespace(
  { definition }: Pick<Endpoint, 'definition'>,
  { namespace }: Pick<Addressed, 'namespace'>,
): void {
  if (definition.namespaced && namespace === '') throw namespaceless();
}

export const namespaceless = (): StatusError => badRequest('Namespace parameter required.');
