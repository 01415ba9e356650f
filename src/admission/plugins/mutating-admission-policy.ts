import type { AdmissionPlugin } from '../plugin.js';
import type { MutatingPolicies } from '../mutating-policy/compile.js';
import { mutate, type MutatingParts } from '../mutating-policy/mutate.js';
import { withPolicies } from '../validating-policy/policy-plugin.js';

export interface MutatingPolicyParts extends MutatingParts {
  readonly source: MutatingPolicies;
}

/** Applies the MutatingAdmissionPolicies that are bound. A DELETE has no object to mutate. */
export const mutatingAdmissionPolicy = (parts: MutatingPolicyParts): AdmissionPlugin => ({
  name: 'MutatingAdmissionPolicy',
  handles: (operation) => operation !== 'DELETE',
  // hot: runs on every write.
  admit(attributes, round) {
    const { source, served } = parts;
    if (source.ready && source.bound.length === 0) return undefined;
    return withPolicies({
      source,
      served,
      attributes,
      apply: (policies, request) => mutate(parts, policies, request, round),
    });
  },
});
