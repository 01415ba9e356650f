// How verbose the log is while the server runs: the same in all of its processes, also in those that are started later.
import type { Logs } from '../../lib/telemetry/log.js';
import type { Channel } from '../../workers/channel.js';
import type { Supervisor } from '../../workers/supervisor.js';

/** A worker sends a number to have it set everywhere, or nothing to learn what is set. The supervisor sends a number to workers. */
const TOPIC = 'log-verbosity';

/** In a server of one process, or in a worker. */
export function verbositySetter(logs: Logs, channel: Channel | undefined): (verbosity: number) => Promise<void> {
  if (channel === undefined) {
    return (verbosity) => Promise.resolve(logs.setVerbosity(verbosity));
  }
  const set = (verbosity: unknown): void => {
    if (typeof verbosity === 'number') logs.setVerbosity(verbosity);
  };
  channel.handle(TOPIC, set);
  void channel.ask(TOPIC).then(set, () => undefined);
  return async (verbosity) => void (await channel.ask(TOPIC, verbosity));
}

/** In the supervisor. */
export function shareVerbosity(logs: Logs, supervisor: Supervisor): void {
  let wanted: number | undefined;
  supervisor.handle(TOPIC, async (verbosity) => {
    if (typeof verbosity !== 'number') return wanted;
    wanted = verbosity;
    logs.setVerbosity(verbosity);
    await supervisor.askAll(TOPIC, verbosity);
    return wanted;
  });
}
