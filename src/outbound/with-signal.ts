import { whenAborted } from '../lib/async/when-aborted.js';
import { OutboundError } from './outbound-error.js';

/** Waits for work that others may wait for, too: it goes on when this waiting is over. */
export function withSignal<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const forget = whenAborted(signal, () => reject(OutboundError.aborted(signal)));
    work.then(resolve, reject).finally(forget);
  });
}
