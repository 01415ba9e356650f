import { buildStamp } from '../machinery/build-stamp.js';
import { defineTopic } from '../options/flag-table.js';
import { type Command, EXIT } from './command.js';
import { DATA_DIR_FLAG } from './data-dir-flag.js';
import { LocalServer, type Readiness } from './local-server.js';
import { OUTPUT_FLAG, wantsJson } from './output.js';
import { readFlags } from './read-flags.js';
import { coloured } from './terminal.js';

const topic = defineTopic({
  key: 'status',
  title: 'status',
  flags: { 'data-dir': DATA_DIR_FLAG, output: OUTPUT_FLAG },
});

interface Status {
  readonly state: Readiness | 'stopped';
  readonly pid?: number | undefined;
  readonly url?: string | undefined;
  readonly kubernetes?: string | undefined;
  readonly dataDir: string;
  readonly kubeconfig: string;
  readonly log: string;
}

export const status: Command = {
  name: 'status',
  summary: 'tells whether the server of this machine runs, and where',
  usage: ['status [--data-dir=DIR] [--output=json]'],
  about: `Tells whether a server has the data folder open, whether it is ready, and where it serves. Ends with 0 when it is
ready, with 1 when it is not or cannot be asked, with ${EXIT.notRunning} when none runs.`,
  topics: [topic],
  words: [],
  async run(args, parts) {
    const { dataDir, output } = readFlags([topic], args).values.status;
    const isJson = wantsJson(output);
    const found = await look(new LocalServer(dataDir, parts.env));
    if (isJson) parts.print(`${JSON.stringify({ ...found, client: buildStamp.version }, undefined, 2)}\n`);
    else parts.print(asText(found, parts));
    if (found.state === 'stopped') return EXIT.notRunning;
    return found.state === 'ready' ? EXIT.done : EXIT.failed;
  },
};

async function look(server: LocalServer): Promise<Status> {
  const files = { dataDir: server.dataDir, kubeconfig: server.kubeconfigFile, log: server.logFile };
  const pid = await server.pid();
  if (pid === undefined) return { state: 'stopped', ...files };
  const [state, kubernetes] = await Promise.all([server.readiness(), server.gitVersion()]);
  return { state, pid, url: server.url(), kubernetes, ...files };
}

function asText(found: Status, parts: Parameters<typeof coloured>[2]): string {
  const rows: [string, string | number | undefined][] = [
    ['state', coloured(found.state, found.state === 'ready' ? 'green' : 'yellow', parts)],
    ['server', found.url],
    ['version', found.kubernetes],
    ['process', found.pid],
    ['data', found.dataDir],
    ['kubeconfig', found.state === 'stopped' ? undefined : found.kubeconfig],
    ['log', found.state === 'stopped' ? undefined : found.log],
  ];
  return rows
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name.padEnd(10)}  ${value}\n`)
    .join('');
}
