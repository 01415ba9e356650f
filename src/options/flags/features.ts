import { defineTopic } from '../flag-table.js';

export const features = defineTopic({
  key: 'features',
  title: 'features',
  flags: {
    'contention-profiling': { type: 'bool', help: 'With profiling on: also profile what the server waits for.' },
    'debug-socket-path': {
      type: 'string',
      help: 'A unix socket to serve profiling on, without authentication or authorization.',
    },
    'enable-priority-and-fairness': {
      type: 'bool',
      default: true,
      help: 'Queue requests by API Priority and Fairness instead of refusing those above a plain limit.',
    },
    profiling: { type: 'bool', default: true, help: 'Serve profiles under /debug/pprof/.' },
  },
});
