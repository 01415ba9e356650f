// The process that serves the clusters of this one.
import { startHost, type Host } from './host-process.js';

let host: Promise<Host> | undefined;

/**
 * One for all clusters of this process, kept until it ends: starting it is most of the time that the first cluster takes.
 * It keeps nothing alive. After one that has ended, or did not start, the next call starts another.
 */
export function ownHost(): Promise<Host> {
  if (host === undefined) {
    const starting = startHost();
    const forget = (): void => {
      if (host === starting) host = undefined;
    };
    host = starting;
    starting.then(({ ended }) => ended.then(forget), forget);
  }
  return host;
}
