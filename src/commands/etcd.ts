import { type Command, CommandFailure } from './command.js';
import { etcdFlags } from './etcd/flags.js';

export const etcd: Command = {
  name: 'etcd',
  summary: "serves an embedded store by etcd's API, with etcd's flags",
  usage: ['etcd [flags]'],
  about: `Serves an embedded store by etcd's gRPC API until SIGTERM or SIGINT, for kube-apiserver, etcdctl, and all else that is
made for etcd 3.5. There is one member, no Raft, and there are no users. Flags can be set by the environment, too: ETCD_DATA_DIR is
--data-dir. bin/etcd is the same by the name that tools look for.`,
  topics: [etcdFlags],
  words: [],
  // bin/binnacle starts it without coming here: it is a bundle of its own, which starts quickly.
  async run() {
    throw new CommandFailure('the store is served by bin/binnacle');
  },
};
