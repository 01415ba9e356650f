import { defineTopic } from '../flag-table.js';

export const binnacle = defineTopic({
  key: 'binnacle',
  title: 'binnacle',
  flags: {
    controllers: {
      type: 'strings',
      help: "Small controllers to run inside this process, for a cluster without a controller manager: namespace, garbagecollector, serviceaccount, root-ca-configmap, resourcequota, clusterrole-aggregation; '*' for all of these. Beside them, by name only: workloads, stand-ins for kubelets, scheduler and workload controllers in tests. None by default.",
    },
    'data-dir': {
      type: 'string',
      help: "Where the embedded store and generated keys are kept. By default the folder 'binnacle' in $XDG_STATE_HOME or ~/.local/state.",
    },
    'flags-file': {
      type: 'string',
      help: "A file of further flags, one a line as --name=value, without quotes; '#' begins a comment. It stands before the other flags, which count more.",
    },
    'store-access': {
      type: 'string',
      default: 'read-only',
      help: "What clients of --store-listen-url may do: 'read-only', or 'read-write'.",
    },
    'store-client-ca-file': {
      type: 'string',
      help: 'The authority of the client certificates that --store-listen-url requires with https. It should be one of its own: who has such a certificate sees everything in the store.',
    },
    'store-listen-url': {
      type: 'string',
      help: "Serve the embedded store by etcd's API here as well: unix://PATH for a socket of this user's alone, or https://127.0.0.1:PORT with client certificates. Off by default.",
    },
    'store-quota-bytes': {
      type: 'int',
      help: "The most bytes of the embedded store that may be in use. Beyond it writes are refused as by etcd's quota, and deletes are accepted. 0 for no limit but the disk.",
    },
    workers: {
      type: 'string',
      default: '1',
      help: "How many processes serve the port as one server, from 1 to 64; 'auto' for as many as there are cores.",
    },
  },
});
