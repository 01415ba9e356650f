import { TOPICS } from '../options/topics.js';
import { type Command, CommandFailure } from './command.js';

export const serve: Command = {
  name: 'serve',
  summary: "serves until SIGTERM or SIGINT, with kube-apiserver's flags",
  usage: ['serve [flags]', '[flags]'],
  about: `Serves the Kubernetes API until SIGTERM or SIGINT, with kube-apiserver's flags. Without any it is a working server
with an embedded store and generated certificates in --data-dir.`,
  topics: TOPICS,
  words: [],
  // bin/binnacle starts the server without coming here: its program is a bundle of its own.
  async run() {
    throw new CommandFailure('the server is started by bin/binnacle');
  },
};
