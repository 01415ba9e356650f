import { defineTopic } from '../flag-table.js';

export const traces = defineTopic({
  key: 'traces',
  title: 'traces',
  flags: {
    'tracing-config-file': {
      type: 'string',
      help: 'The file (TracingConfiguration) that says where traces are sent and how many are sampled.',
    },
  },
});
