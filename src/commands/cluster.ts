import { errorText } from '../lib/text/error-text.js';
import { defineTopic } from '../options/flag-table.js';
import { CommandLineMistake, parseFlags } from '../options/parse-flags.js';
import {
  CLUSTER_VARIABLE,
  type ClusterFacts,
  CONTROL_VARIABLE,
  type ResetResult,
  type SnapshotFacts,
} from '../testkit/protocol/control.js';
import { ControlClient } from '../testkit/library/control-client.js';
import { type Command, CommandFailure, EXIT } from './command.js';
import { readFaultsFile } from './read-faults-file.js';

const topic = defineTopic({
  key: 'cluster',
  title: 'cluster',
  flags: {
    control: {
      type: 'string',
      help: `The control socket. By default $${CONTROL_VARIABLE}, which \`binnacle run\` sets.`,
    },
    id: { type: 'string', help: `Which cluster. By default $${CLUSTER_VARIABLE}, which \`binnacle run\` sets.` },
  },
});

interface Asked {
  readonly send: <T>(method: string, at: string, body?: unknown) => Promise<T>;
  readonly word: string | undefined;
}

/** What each word of the command does; answers what it prints. */
const WORDS: Readonly<Record<string, (asked: Asked) => Promise<string>>> = {
  async snapshot({ send }) {
    return `${(await send<SnapshotFacts>('POST', '/snapshots')).id}\n`;
  },
  async reset({ send, word }) {
    if (word === undefined) throw new CommandLineMistake('name the snapshot to go back to');
    return `${(await send<ResetResult>('POST', '/reset', { snapshot: word })).changes} objects changed\n`;
  },
  async fork({ send, word }) {
    const { id, kubeconfigPath } = await send<ClusterFacts>(
      'POST',
      '/fork',
      word === undefined ? {} : { snapshot: word },
    );
    return `${id} ${kubeconfigPath}\n`;
  },
  async faults({ send, word }) {
    const settings = word === 'off' ? {} : word === undefined ? undefined : readFaultsFile(word);
    const state = settings === undefined ? await send('GET', '/faults') : await send('PUT', '/faults', settings);
    return `${JSON.stringify(state)}\n`;
  },
  async audit({ send }) {
    const events = await send<unknown[]>('GET', '/audit');
    return events.map((event) => `${JSON.stringify(event)}\n`).join('');
  },
  async stop({ send }) {
    await send('DELETE', '');
    return '';
  },
};

export const cluster: Command = {
  name: 'cluster',
  summary: 'marks, resets, forks and stops a throwaway cluster',
  usage: [
    'cluster snapshot            marks the state of this moment, and prints its name',
    'cluster reset SNAPSHOT      brings that state back; watches hear of it as of any change',
    'cluster fork [SNAPSHOT]     starts another cluster from it, and prints its id and kubeconfig',
    'cluster faults [FILE|off]   makes requests fail or late by the rules in a file, or shows those in force',
    'cluster audit               prints the audit events of all requests',
    'cluster stop                ends it',
  ],
  about: 'For scripts that `binnacle run` starts, and for clusters of `binnacle serve-clusters`.',
  topics: [topic],
  words: Object.keys(WORDS),
  async run(args, { env, print }) {
    const { values, positional } = parseFlags([topic], args);
    const [word = '', name, ...more] = positional;
    const action = Object.hasOwn(WORDS, word) ? WORDS[word] : undefined;
    if (action === undefined || more.length > 0)
      throw new CommandLineMistake(`one of ${Object.keys(WORDS).join(', ')}`);
    const control = values.cluster.control || env[CONTROL_VARIABLE] || '';
    const id = values.cluster.id || env[CLUSTER_VARIABLE] || '';
    if (control === '' || id === '') {
      throw new CommandFailure(
        'no cluster is named: `binnacle run` does so for its command, --control and --id for others',
      );
    }
    const client = new ControlClient(control);
    const send = <T>(method: string, at: string, body?: unknown): Promise<T> =>
      client.send<T>(method, `/v1/clusters/${encodeURIComponent(id)}${at}`, body).catch((error: unknown) => {
        throw new CommandFailure(errorText(error), { cause: error });
      });
    print(await action({ send, word: name }));
    return EXIT.done;
  },
};
