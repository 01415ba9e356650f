import path from 'node:path';
import { CommandLineMistake } from '../options/parse-flags.js';
import { type Command, EXIT } from './command.js';
import { makeEnvtestFolder } from './envtest-folder.js';

export const envtestAssets: Command = {
  name: 'envtest-assets',
  summary: "makes a folder of programs for controller-runtime's envtest",
  usage: ['envtest-assets DIR'],
  about: `Makes a folder that KUBEBUILDER_ASSETS can name, so that controller-runtime's envtest starts Binnacle:

  binnacle envtest-assets assets
  KUBEBUILDER_ASSETS=$PWD/assets go test ./...

The folder has links: kube-apiserver and etcd are this program, kubectl is the one in the PATH, where it has one.`,
  topics: [],
  words: [],
  async run(args, { env, print, printError }) {
    const [folder, ...more] = args;
    if (folder === undefined || folder.startsWith('-') || more.length > 0)
      throw new CommandLineMistake('name one folder');
    const programs = makeEnvtestFolder(path.resolve(folder), env['PATH'] ?? '');
    for (const [name, file] of Object.entries(programs)) print(`${name.padEnd(14)}  ${file}\n`);
    if (programs['kubectl'] === undefined) printError('There is no kubectl in the PATH.\n');
    return EXIT.done;
  },
};
