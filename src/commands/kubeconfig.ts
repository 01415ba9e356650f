import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { defaultDataDir } from '../options/complete-options.js';
import { defineTopic } from '../options/flag-table.js';
import { type Command, CommandFailure, type CommandParts, EXIT } from './command.js';
import { DATA_DIR_FLAG } from './data-dir-flag.js';
import { LocalServer } from './local-server.js';
import { mergeKubeconfig } from './merge-kubeconfig.js';
import { readFlags } from './read-flags.js';

const topic = defineTopic({
  key: 'kubeconfig',
  title: 'kubeconfig',
  flags: {
    'data-dir': DATA_DIR_FLAG,
    merge: { type: 'bool', help: 'Write it into the kubeconfig that kubectl uses, instead of printing it.' },
    into: {
      type: 'string',
      help: 'With --merge, the file to write into. By default the first of $KUBECONFIG, or ~/.kube/config.',
    },
    context: {
      type: 'string',
      help: "With --merge, the name of the context. By default binnacle, or binnacle-NAME for another folder than the default one, by the folder's name.",
    },
    'keep-current': { type: 'bool', help: 'With --merge, leave the current context as it is.' },
  },
});

export const kubeconfig: Command = {
  name: 'kubeconfig',
  summary: "prints the administrator's kubeconfig, or merges it into kubectl's",
  usage: ['kubeconfig [--data-dir=DIR]', 'kubeconfig --merge [--context=NAME] [--into=FILE] [--keep-current]'],
  about: `Prints the administrator's kubeconfig of the server of this machine. With --merge it adds the server to the kubeconfig
that kubectl uses, or brings it up to date there, and makes it the current context; what others wrote there stays.
Comments in that file are lost, as with \`kubectl config\`.`,
  topics: [topic],
  words: [],
  async run(args, parts) {
    const flags = readFlags([topic], args).values.kubeconfig;
    const server = new LocalServer(flags.dataDir, parts.env);
    const own = readOwn(server);
    if (!flags.merge) {
      parts.print(own);
      return EXIT.done;
    }
    const file = flags.into === '' ? defaultTarget(parts.env) : path.resolve(flags.into);
    const name = flags.context === '' ? contextName(server, parts.env) : flags.context;
    mergeKubeconfig({ own, file, name, isCurrent: !flags.keepCurrent });
    parts.print(`Context "${name}" is in ${file}${flags.keepCurrent ? '' : ' and current'}\n`);
    return EXIT.done;
  },
};

function readOwn({ kubeconfigFile, dataDir }: LocalServer): string {
  try {
    return fs.readFileSync(kubeconfigFile, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw new CommandFailure(String(error), { cause: error });
    throw new CommandFailure(`${dataDir} has no kubeconfig: start a server there first, by \`binnacle up\``, {
      cause: error,
    });
  }
}

function defaultTarget(env: CommandParts['env']): string {
  const named = env['KUBECONFIG']?.split(path.delimiter).find((file) => file !== '');
  return path.resolve(named ?? path.join(env['HOME'] || os.homedir(), '.kube', 'config'));
}

const contextName = ({ dataDir }: LocalServer, env: CommandParts['env']): string =>
  dataDir === defaultDataDir(env) ? 'binnacle' : `binnacle-${path.basename(dataDir)}`;
