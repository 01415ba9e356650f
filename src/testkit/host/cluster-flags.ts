// The flags that a throwaway cluster is started with, from those that its starter wants.
import { oneMachineFlags } from '../../options/one-machine-flags.js';
import { CommandLineMistake, parseFlags } from '../../options/parse-flags.js';
import { TOPICS } from '../../options/topics.js';
import { ControlError } from './control-error.js';

/** What a throwaway cluster decides by itself, and why. */
const NOT_TAKEN: Readonly<Record<string, string>> = {
  'etcd-servers': 'it keeps its objects in memory',
  'etcd-servers-overrides': 'it keeps its objects in memory',
  'data-dir': 'it has a folder of its own',
  'token-auth-file': 'its administrator has a token of its own',
  'client-ca-file': 'it issues the certificate of its administrator',
  processes: 'the clusters of a program share one process',
  'flags-file': 'it takes flags alone',
};

export function clusterFlags(wanted: readonly string[]): string[] {
  const { setFlags, positional } = parse(wanted);
  if (positional.length > 0) throw new ControlError(400, `not a flag: ${positional[0]?.slice(0, 200)}`);
  for (const [name, why] of Object.entries(NOT_TAKEN)) {
    if (setFlags.has(name)) throw new ControlError(400, `a throwaway cluster takes no --${name}: ${why}`);
  }
  return [...oneMachineFlags(setFlags), ...wanted];
}

function parse(wanted: readonly string[]): { setFlags: ReadonlySet<string>; positional: readonly string[] } {
  try {
    return parseFlags(TOPICS, wanted);
  } catch (error) {
    if (error instanceof CommandLineMistake) throw new ControlError(400, error.message);
    throw error;
  }
}
