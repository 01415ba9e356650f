import type { UserInfo } from '../../machinery/user.js';

const NODE_PREFIX = 'system:node:';
const NODES_GROUP = 'system:nodes';

/** The name of the node a user is, empty for a node without a name; undefined for everybody else. */
export const nodeNameOf = (user: UserInfo): string | undefined =>
  user.name.startsWith(NODE_PREFIX) && user.groups.includes(NODES_GROUP)
    ? user.name.slice(NODE_PREFIX.length)
    : undefined;
