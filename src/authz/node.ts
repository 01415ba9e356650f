// The Node mode. What a kubelet may read follows from the pods bound to its node; that graph is not built yet, so
// this mode has no opinion on anybody, and kubelets get what RBAC gives them.
import type { UserInfo } from '../machinery/user.js';
import type { Authorizer } from './authorizer.js';

const NODE_PREFIX = 'system:node:';
const NODES_GROUP = 'system:nodes';

/** The name of the node a user is; undefined for everybody else. */
export const nodeNameOf = (user: UserInfo): string | undefined =>
  user.name.startsWith(NODE_PREFIX) && user.groups.includes(NODES_GROUP)
    ? user.name.slice(NODE_PREFIX.length)
    : undefined;

export const nodeAuthorizer: Authorizer = {
  authorize: () => ({ decision: 'no-opinion', reason: '' }),
  rulesFor(user) {
    const none = { resourceRules: [], nonResourceRules: [] };
    if (nodeNameOf(user) === undefined) return { ...none, incomplete: false };
    return { ...none, incomplete: true, evaluationError: 'node authorizer does not support user rule resolution' };
  },
};
