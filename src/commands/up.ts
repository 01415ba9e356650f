import { defineTopic } from '../options/flag-table.js';
import { LOOPBACK, oneMachineFlags } from '../options/one-machine-flags.js';
import { CommandLineMistake, type ParsedFlags } from '../options/parse-flags.js';
import { TOPICS } from '../options/topics.js';
import { type Command, CommandFailure, type CommandParts, EXIT } from './command.js';
import { choosePort } from './choose-port.js';
import { LocalServer } from './local-server.js';
import { readFlags } from './read-flags.js';
import { startInBackground, startInForeground } from './start-server.js';

const topic = defineTopic({
  key: 'up',
  title: 'up',
  flags: { foreground: { type: 'bool', help: 'Stay, show the log, and end with the server.' } },
});
const ALL_TOPICS = [topic, ...TOPICS] as const;
type UpFlags = ParsedFlags<typeof ALL_TOPICS>;

export const up: Command = {
  name: 'up',
  summary: 'starts a server for this machine, and says what to try',
  usage: ['up [--foreground] [--data-dir=DIR] [flags of the server]'],
  about: `Starts a server for this machine, in the background: on 127.0.0.1, with Node and RBAC authorization, the small
controllers, and an administrator's kubeconfig in the data folder. A folder keeps its port; a second server, with
--data-dir of its own, gets a free one. Flags of the server are passed on: \`binnacle help serve\` lists them.`,
  topics: [topic],
  passesOn: TOPICS,
  words: [],
  async run(args, parts) {
    const flags = readFlags(ALL_TOPICS, args);
    if (flags.values.etcd.etcdServers.length > 0) {
      throw new CommandLineMistake('up keeps its data in a folder: a server on etcd is started by `binnacle serve`');
    }
    const server = new LocalServer(flags.values.binnacle.dataDir, parts.env);
    const pid = await server.pid();
    if (pid !== undefined) return alreadyUp(server, pid, flags, parts);
    const own = args.filter((arg) => arg !== '--foreground' && !arg.startsWith('--foreground='));
    const start = flags.values.up.foreground ? startInForeground : startInBackground;
    return start({
      server,
      parts,
      flagsFor: (attempt) => serverFlags(own, flags, server, attempt),
      choosesPort: !flags.setFlags.has('secure-port'),
    });
  },
};

/** To have started it already is as good, unless somebody wants to see it. */
function alreadyUp(server: LocalServer, pid: number, flags: UpFlags, { print, printError }: CommandParts): number {
  if (flags.values.up.foreground) {
    throw new CommandFailure(`a server runs in ${server.dataDir} already, process ${pid}; \`binnacle down\` stops it`);
  }
  if ([...flags.setFlags].some((name) => name !== 'data-dir')) {
    printError('It runs with the flags of its start; `binnacle down` first to change them.\n');
  }
  print(`Runs already. Try:\n\n  kubectl --kubeconfig ${server.kubeconfigFile} get namespaces\n`);
  return EXIT.done;
}

/** What was given, and what is sensible on one machine where nothing was. */
async function serverFlags(
  own: readonly string[],
  { setFlags, values }: UpFlags,
  server: LocalServer,
  attempt: number,
): Promise<string[]> {
  const address = setFlags.has('bind-address') ? values.secureServing.bindAddress : LOOPBACK;
  return [
    ...oneMachineFlags(setFlags),
    ...(setFlags.has('secure-port') ? [] : [`--secure-port=${await choosePort(address, server.url(), attempt)}`]),
    ...(setFlags.has('data-dir') ? [] : [`--data-dir=${server.dataDir}`]),
    ...own,
  ];
}
