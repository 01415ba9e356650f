import { SERVE_CLUSTERS, serveClustersTopic } from '../testkit/protocol/serve-clusters-flags.js';
import { type Command, CommandFailure } from './command.js';

export const serveClusters: Command = {
  name: SERVE_CLUSTERS,
  summary: 'serves throwaway clusters for tests, by a control socket',
  usage: [`${SERVE_CLUSTERS} [--detach]`],
  about: `Serves throwaway clusters for tests in any language. Prints one line of JSON with the path of its control socket, by which
clusters are started, looked into and stopped, and ends when its standard input does: keep that open.
docs/reference/control-socket.md describes the requests. In JavaScript, \`binnacle/testing\` does all this.`,
  topics: [serveClustersTopic],
  words: [],
  // bin/binnacle starts it without coming here: it is part of the server's program.
  async run() {
    throw new CommandFailure('the clusters are served by bin/binnacle');
  },
};
