import path from 'node:path';
import { defineTopic } from '../options/flag-table.js';
import { CommandLineMistake, parseFlags } from '../options/parse-flags.js';
import { TOPICS } from '../options/topics.js';
import { AUDIT_LEVELS, type AuditLevel } from '../testkit/protocol/control.js';
import { type Command, CommandFailure } from './command.js';
import { readFaultsFile } from './read-faults-file.js';
import { runWithCluster } from './run-with-cluster.js';

const topic = defineTopic({
  key: 'run',
  title: 'run',
  flags: {
    manifests: {
      type: 'strings',
      help: 'Files or folders of manifests to apply before the command starts: CRDs first, then namespaces, then the rest.',
    },
    audit: {
      type: 'string',
      help: 'Write the audit events of all requests into this file when the command has ended.',
    },
    'audit-level': {
      type: 'string',
      default: 'Metadata',
      help: `With --audit, how much of each request: ${AUDIT_LEVELS.slice(1).join(', ')}.`,
    },
    faults: { type: 'string', help: 'Make requests fail or late by the rules in this file, YAML or JSON.' },
    keep: { type: 'bool', help: 'Leave the cluster running when the command has ended, and say how to stop it.' },
  },
});
const ALL_TOPICS = [topic, ...TOPICS] as const;
const OWN_FLAGS = new Set(Object.keys(topic.flags));

export const run: Command = {
  name: 'run',
  summary: 'runs a command, such as a test, with a throwaway cluster',
  usage: [
    'run [--manifests=DIR] [--audit=FILE] [--faults=FILE] [--keep] [flags of the server] -- COMMAND [ARGUMENT …]',
  ],
  about: `Starts a throwaway cluster, runs the command with it and ends with the command's exit code. The cluster keeps its objects in
memory and is gone afterwards, also after Ctrl-C. The command finds it by KUBECONFIG; envtest by USE_EXISTING_CLUSTER and
KUBEBUILDER_ASSETS. Flags of the server are passed on, as --emulated-version=1.33: \`binnacle help serve\` lists them.

  binnacle run --manifests=config/crd -- go test ./...`,
  topics: [topic],
  passesOn: TOPICS,
  words: [],
  async run(args, parts) {
    const dashes = args.indexOf('--');
    const own = dashes < 0 ? args : args.slice(0, dashes);
    const { values, positional } = parseFlags(ALL_TOPICS, own);
    // Without `--` the first word that is no flag begins the command.
    const command = dashes < 0 ? positional : args.slice(dashes + 1);
    if (dashes < 0 && positional.length > 0) throw new CommandLineMistake('put -- before the command');
    if (positional.length > 0) throw new CommandLineMistake(`unexpected argument: ${positional[0]?.slice(0, 200)}`);
    const [program, ...programArgs] = command;
    if (program === undefined) throw new CommandLineMistake('name a command to run, after --');
    const { manifests, audit, auditLevel, faults, keep } = values.run;
    if (!isLevel(auditLevel)) throw new CommandLineMistake(`unknown --audit-level: ${auditLevel}`);
    return runWithCluster(
      {
        command: { program, args: programArgs },
        flags: withoutOwn(own),
        manifests: manifests.map((file) => ({ path: path.resolve(file) })),
        faults: faults === '' ? undefined : readFaultsFile(faults),
        auditFile: audit === '' ? undefined : path.resolve(audit),
        auditLevel: audit === '' ? 'None' : auditLevel,
        keep,
      },
      parts,
    ).catch((error: unknown) => {
      if (error instanceof TypeError || error instanceof RangeError) throw error;
      throw new CommandFailure((error as Error).message, { cause: error });
    });
  },
};

const isLevel = (level: string): level is AuditLevel => AUDIT_LEVELS.some((one) => one === level && one !== 'None');

/** The flags that are the server's: each of this command's is `--name=value`, or `--name value` for what is no boolean. */
function withoutOwn(args: readonly string[]): string[] {
  const passed: string[] = [];
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] ?? '';
    const [name = ''] = arg.replace(/^--/, '').split('=');
    if (!arg.startsWith('--') || !OWN_FLAGS.has(name)) passed.push(arg);
    else if (name !== 'keep' && !arg.includes('=')) i++;
  }
  return passed;
}
