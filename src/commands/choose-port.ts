import { freePort } from '../server/listener/free-port.js';

const USUAL_PORT = 6443;

/**
 * The folder's last one, so that kubeconfigs stay right; else the usual one; else any that is free. Between looking and
 * serving somebody else may take it: a second attempt takes any.
 */
export async function choosePort(address: string, lastUrl: string | undefined, attempt: number): Promise<number> {
  const last = lastUrl === undefined ? [] : [Number(new URL(lastUrl).port)];
  const wanted = attempt > 0 ? [] : [...last, USUAL_PORT];
  for (const port of [...wanted, 0]) {
    const free = await freePort(address, port);
    if (free !== undefined) return free;
  }
  // The address is none of this machine's: the server says so better than a probe does.
  return USUAL_PORT;
}
