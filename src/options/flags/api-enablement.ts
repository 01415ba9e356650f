import { defineTopic } from '../flag-table.js';

export const apiEnablement = defineTopic({
  key: 'apiEnablement',
  title: 'API enablement',
  flags: {
    'runtime-config': {
      type: 'settings',
      help: "Built-in APIs to serve or not: 'api/all', 'api/ga', 'api/beta', 'api/alpha', a version as in 'apps/v1' ('v1' for the core group), or a resource as in 'apps/v1/deployments', each '=true' or '=false'. The narrower setting wins.",
    },
  },
});
