import { groupResourceText } from '../../machinery/status.js';
import { forbid } from '../forbid.js';
import type { AdmissionAttributes, AdmissionPlugin } from '../plugin.js';
import { enforce, type EnforcementParts } from '../validating-policy/enforce.js';
import type { PolicySource } from '../validating-policy/follow-policies.js';
import { matchResources } from '../validating-policy/match.js';
import { SeenRequest } from '../validating-policy/seen-request.js';

export interface ValidatingPolicyParts extends EnforcementParts {
  readonly source: PolicySource;
}

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

/** Applies the ValidatingAdmissionPolicies that are bound. */
export const validatingAdmissionPolicy = (parts: ValidatingPolicyParts): AdmissionPlugin => ({
  name: 'ValidatingAdmissionPolicy',
  handles: () => true,
  // hot: runs on every write; most clusters have no policies, and most policies are for few resources.
  validate(attributes) {
    const { source } = parts;
    if (!source.ready) return whenKnown(parts, attributes);
    return source.bound.length === 0 ? undefined : apply(parts, attributes);
  },
});

async function whenKnown(parts: ValidatingPolicyParts, attributes: AdmissionAttributes): Promise<void> {
  if (EXEMPT.has(groupResourceText(attributes.resource))) return;
  if (!(await parts.source.whenReady())) throw forbid(attributes, 'not yet ready to handle request');
  await apply(parts, attributes);
}

function apply(parts: ValidatingPolicyParts, attributes: AdmissionAttributes): Promise<void> | undefined {
  if (EXEMPT.has(groupResourceText(attributes.resource))) return undefined;
  const request = new SeenRequest(attributes, parts.served);
  const concerned = parts.source.bound.filter(
    ({ criteria }) => criteria === undefined || matchResources(criteria.resources, request) !== undefined,
  );
  return concerned.length === 0 ? undefined : enforce(parts, concerned, request);
}
