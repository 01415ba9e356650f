// Authorizers that always answer the same.
import type { Authorizer, RulesResult } from './authorizer.js';
import { MASTERS_GROUP } from '../machinery/user.js';

const NO_RULES: RulesResult = { resourceRules: [], nonResourceRules: [], incomplete: false };

export const alwaysAllow: Authorizer = {
  authorize: () => ({ decision: 'allow', reason: '' }),
  rulesFor: () => ({
    resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
    nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
    incomplete: false,
  }),
};

export const alwaysDeny: Authorizer = {
  authorize: () => ({ decision: 'no-opinion', reason: 'Everything is forbidden.' }),
  rulesFor: () => NO_RULES,
};

/** Members of system:masters may do everything, whatever the modes say: the way back in when rules went wrong. */
export const privilegedGroup: Authorizer = {
  authorize: ({ user }) => ({ decision: user.groups.includes(MASTERS_GROUP) ? 'allow' : 'no-opinion', reason: '' }),
  rulesFor: () => NO_RULES,
};
