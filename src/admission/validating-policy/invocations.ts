// Which policies are for a request: each with every binding that is, and every set of parameters.
import { type KubeObject } from '../../machinery/object.js';
import { notFound } from '../../machinery/status.js';
import { isFault, matchRequest } from '../matching/match.js';
import type { ResourceMatch } from '../matching/resource-match.js';
import { collectParams, paramResource, type ResourceOf } from './params.js';
import type { BindingSpec, BoundPolicy, PolicyBinding, PolicySpec } from './policy-index.js';
import { namespaceValue } from '../matching/request-value.js';
import type { SeenRequest, ServedResources } from '../matching/seen-request.js';

export interface InvocationParts {
  readonly served: ServedResources;
  readonly resourceOf: ResourceOf;
}

/** A policy with a binding that is for the request, or what is wrong with one of them. */
export type Invocation<Bound extends BindingSpec> =
  | {
      readonly kind: 'invoke';
      readonly matched: ResourceMatch;
      readonly binding: PolicyBinding<Bound>;
      readonly params: readonly (Readonly<KubeObject> | null)[];
    }
  | { readonly kind: 'misconfigured'; readonly binding?: PolicyBinding<Bound>; readonly fault: string };

export async function invocationsOf<Spec extends PolicySpec, Bound extends BindingSpec>(
  policy: BoundPolicy<Spec, Bound>,
  request: SeenRequest,
  { served, resourceOf }: InvocationParts,
): Promise<readonly Invocation<Bound>[]> {
  const matched = policy.criteria
    ? await matchRequest(policy.criteria, request)
    : { fault: 'policy contained no match constraints, a required field' };
  if (matched === undefined) return [];
  if (isFault(matched)) return [{ kind: 'misconfigured', fault: matched.fault }];
  const resource = paramResource(policy.spec.paramKind, resourceOf);
  if (isFault(resource)) return [{ kind: 'misconfigured', fault: resource.fault }];
  const invocations: Invocation<Bound>[] = [];
  for (const binding of policy.bindings) {
    const bound = binding.criteria === undefined ? matched : await matchRequest(binding.criteria, request);
    if (bound === undefined) continue;
    const params = isFault(bound)
      ? bound
      : await collectParams(resource, binding.spec.paramRef, request.attributes, served);
    invocations.push(
      isFault(params)
        ? { kind: 'misconfigured', binding, fault: params.fault }
        : { kind: 'invoke', matched, binding, params },
    );
  }
  return invocations;
}

const NAMESPACES = { group: '', resource: 'namespaces' };

/** `namespaceObject`: the namespace of the request, unless it is one; null where there is none. */
export async function namespaceOfRequest({ attributes }: SeenRequest): Promise<object | null> {
  const { namespace, kind, context } = attributes;
  const isNamespace = kind.kind === 'Namespace' && kind.group === '' && kind.version === 'v1';
  if (namespace === '' || isNamespace) return null;
  const found = await context.lookup.get(NAMESPACES, '', namespace);
  if (found === undefined) throw notFound(NAMESPACES, namespace);
  return namespaceValue(found);
}
