import { defineTopic } from '../../options/flag-table.js';

export const SERVE_CLUSTERS = 'serve-clusters';

export const serveClustersTopic = defineTopic({
  key: 'serveClusters',
  title: SERVE_CLUSTERS,
  flags: {
    detach: {
      type: 'bool',
      help: 'Stay when standard input ends: until SIGTERM, or until the last cluster is stopped.',
    },
  },
});
