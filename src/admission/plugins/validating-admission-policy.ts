import type { AdmissionPlugin } from '../plugin.js';
import type { ValidatingPolicies } from '../validating-policy/compile.js';
import { enforce, type EnforcementParts } from '../validating-policy/enforce.js';
import { withPolicies } from '../validating-policy/policy-plugin.js';

export interface ValidatingPolicyParts extends EnforcementParts {
  readonly source: ValidatingPolicies;
}

/** Applies the ValidatingAdmissionPolicies that are bound. */
export const validatingAdmissionPolicy = (parts: ValidatingPolicyParts): AdmissionPlugin => ({
  name: 'ValidatingAdmissionPolicy',
  handles: () => true,
  // hot: runs on every write.
  validate(attributes) {
    const { source, served } = parts;
    if (source.ready && source.bound.length === 0) return undefined;
    return withPolicies({
      source,
      served,
      attributes,
      apply: (policies, request) => enforce(parts, policies, request),
    });
  },
});
