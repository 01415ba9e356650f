import { etcd } from '../options/flags/etcd.js';
import { defineTopic } from '../options/flag-table.js';
import { CommandLineMistake } from '../options/parse-flags.js';
import { type Command } from './command.js';
import { failuresInWords } from './failures-in-words.js';
import { readFlags } from './read-flags.js';

const topic = defineTopic({
  key: 'migrate',
  title: 'migrate',
  flags: {
    from: {
      type: 'string',
      help: 'The data folder, the backup, or the etcd servers (https://…, with commas) to read.',
    },
    to: { type: 'string', help: 'The data folder to make, or the etcd servers to write to.' },
    'new-revisions': {
      type: 'bool',
      help: 'Allows that objects get new resource versions, as they do in etcd: clients must list anew.',
    },
    'dry-run': { type: 'bool', help: 'Only reads, counts, and names what the target would refuse.' },
    'etcd-cafile': etcd.flags['etcd-cafile'],
    'etcd-certfile': etcd.flags['etcd-certfile'],
    'etcd-keyfile': etcd.flags['etcd-keyfile'],
    'etcd-prefix': etcd.flags['etcd-prefix'],
  },
});

export const migrate: Command = {
  name: 'migrate',
  summary: 'moves what is stored from a data folder to etcd, or from etcd to a data folder',
  usage: [
    'migrate --from=DIR|FILE --to=https://HOST:2379 --new-revisions [--dry-run]',
    'migrate --from=https://HOST:2379 --to=DIR [--dry-run]',
  ],
  about: `Writes every object of one revision of the source to the target, as the target keeps it: as kube-apiserver does in etcd, as
JSON in a data folder. Encrypted values stay encrypted. The target has nothing yet. A new data folder keeps all revisions;
etcd cannot, which --new-revisions allows. Stop the servers of the source first: what they write later is not moved.

Interrupted, it can be run again: a data folder is begun anew, etcd goes on. No server starts with a target that is not whole;
kube-apiserver does not know of that, so wait for the last line.`,
  topics: [topic],
  words: [],
  async run(args, parts) {
    const flags = readFlags([topic], args).values.migrate;
    if (flags.from === '' || flags.to === '') throw new CommandLineMistake('--from and --to are required');
    const { migrateStore, placeOf } = await import('./migrate-store.js');
    const [from, to] = [placeOf(flags.from), placeOf(flags.to)];
    if (from.kind === 'etcd' && to.kind === 'etcd') {
      throw new CommandLineMistake('both are etcd: its own tools move a cluster, by etcdctl snapshot save');
    }
    if (from.kind !== 'etcd' && to.kind !== 'etcd') {
      throw new CommandLineMistake('neither is etcd: use `binnacle backup` and `binnacle restore`');
    }
    if (to.kind === 'etcd' && !flags.newRevisions && !flags.dryRun) {
      throw new CommandLineMistake('etcd gives every object a new resource version: add --new-revisions to allow that');
    }
    return failuresInWords(() => migrateStore({ ...flags, from, to }, parts));
  },
};
