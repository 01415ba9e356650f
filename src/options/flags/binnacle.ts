import { defineTopic } from '../flag-table.js';

export const binnacle = defineTopic({
  key: 'binnacle',
  title: 'binnacle',
  flags: {
    controllers: {
      type: 'strings',
      help: "Small controllers to run inside this process, for a cluster without a controller manager: namespace, garbagecollector, serviceaccount, root-ca-configmap, resourcequota, clusterrole-aggregation; '*' for all. None by default.",
    },
    'data-dir': {
      type: 'string',
      help: "Where the embedded store and generated keys are kept. By default the folder 'binnacle' in $XDG_STATE_HOME or ~/.local/state.",
    },
    'flags-file': {
      type: 'string',
      help: "A file of further flags, one a line as --name=value, without quotes; '#' begins a comment. It stands before the other flags, which count more.",
    },
    workers: {
      type: 'string',
      default: '1',
      help: "How many processes serve the port as one server, from 1 to 64; 'auto' for as many as there are cores.",
    },
  },
});
