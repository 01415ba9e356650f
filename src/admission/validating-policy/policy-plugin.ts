// What the plugins of both kinds of policies do before they look at any.
import type { MaybePromise } from '../../lib/async/maybe-promise.js';
import { groupResourceText } from '../../machinery/status.js';
import { forbid } from '../forbid.js';
import type { AdmissionAttributes } from '../plugin.js';
import type { PolicySource } from './policy-informers.js';
import { matchResources } from '../matching/match.js';
import type { BindingSpec, BoundPolicy, PolicySpec } from './policy-index.js';
import { SeenRequest, type ServedResources } from '../matching/seen-request.js';

/** Policies could lock everyone out of mending them, and reviews are what the cluster itself works by. */
const EXEMPT: ReadonlySet<string> = new Set([
  'validatingadmissionpolicies.admissionregistration.k8s.io',
  'validatingadmissionpolicybindings.admissionregistration.k8s.io',
  'mutatingadmissionpolicies.admissionregistration.k8s.io',
  'mutatingadmissionpolicybindings.admissionregistration.k8s.io',
  'selfsubjectreviews.authentication.k8s.io',
  'tokenreviews.authentication.k8s.io',
  'localsubjectaccessreviews.authorization.k8s.io',
  'selfsubjectaccessreviews.authorization.k8s.io',
  'selfsubjectrulesreviews.authorization.k8s.io',
  'subjectaccessreviews.authorization.k8s.io',
]);

export interface PolicyWork<Spec extends PolicySpec, Bound extends BindingSpec> {
  readonly source: PolicySource<Spec, Bound>;
  readonly served: ServedResources;
  readonly attributes: AdmissionAttributes;
  /** Called with the policies whose rules are for the request, where there are any. */
  readonly apply: (policies: readonly BoundPolicy<Spec, Bound>[], request: SeenRequest) => Promise<void>;
}

// hot: runs on every write; most clusters have no policies, and most policies are for few resources.
export function withPolicies<Spec extends PolicySpec, Bound extends BindingSpec>(
  work: PolicyWork<Spec, Bound>,
): MaybePromise<void> {
  return work.source.ready ? applyConcerned(work) : whenKnown(work);
}

async function whenKnown<Spec extends PolicySpec, Bound extends BindingSpec>(
  work: PolicyWork<Spec, Bound>,
): Promise<void> {
  const { attributes, source } = work;
  if (EXEMPT.has(groupResourceText(attributes.resource))) return;
  if (!(await source.whenReady())) throw forbid(attributes, 'not yet ready to handle request');
  await applyConcerned(work);
}

function applyConcerned<Spec extends PolicySpec, Bound extends BindingSpec>({
  source,
  served,
  attributes,
  apply,
}: PolicyWork<Spec, Bound>): Promise<void> | undefined {
  if (EXEMPT.has(groupResourceText(attributes.resource))) return undefined;
  const request = new SeenRequest(attributes, served);
  const concerned = source.bound.filter(
    ({ criteria }) => criteria === undefined || matchResources(criteria.resources, request) !== undefined,
  );
  return concerned.length === 0 ? undefined : apply(concerned, request);
}
