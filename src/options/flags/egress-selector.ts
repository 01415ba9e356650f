import { defineTopic } from '../flag-table.js';

export const egressSelector = defineTopic({
  key: 'egressSelector',
  title: 'egress selector',
  later: 'egress selection',
  flags: {
    'egress-selector-config-file': {
      type: 'string',
      help: 'The file (EgressSelectorConfiguration) that says which outgoing connections go through a tunnel.',
    },
  },
});
