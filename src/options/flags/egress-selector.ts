import { defineTopic } from '../flag-table.js';

export const egressSelector = defineTopic({
  key: 'egressSelector',
  title: 'egress selector',
  flags: {
    'egress-selector-config-file': {
      type: 'string',
      help: 'The file (EgressSelectorConfiguration) that says which outgoing connections go through a tunnel.',
    },
  },
});
