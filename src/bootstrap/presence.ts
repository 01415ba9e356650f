// Publishes this server for as long as it is ready, and no longer once it shuts down.
import type { Logger } from '../lib/telemetry/log.js';
import { errorText } from '../lib/text/error-text.js';
import { pause } from '../lib/async/pause.js';
import { repeat } from '../lib/async/repeat.js';
import type { EndpointReconciler } from './endpoint-reconcilers.js';

export interface PresenceOptions {
  /** What is published, for messages: `the service of the API`. */
  readonly what: string;
  /** What must be there beside, ready or not. */
  readonly ensure?: () => Promise<void>;
  readonly reconciler: EndpointReconciler;
  /** Whether this server is ready: until then nobody is to be sent to it. */
  readonly isReady: () => Promise<boolean>;
  readonly log: Logger;
  readonly wait?: typeof pause;
}

export interface Presence {
  start(signal: AbortSignal): Promise<void>;
  /** Removes what was published, so that no client is sent here any more. */
  stop(): Promise<void>;
}

const READY_POLL_MS = 100;
/** What `ensure` needs, a namespace and an address, is being made while the server starts; it is ready in any case then. */
const ENSURE_ATTEMPTS = 20;
const EVERY_MS = 10_000;

export function createPresence(options: PresenceOptions): Presence {
  const { what, ensure = async () => undefined, reconciler, isReady, log, wait = pause } = options;
  const ending = new AbortController();
  let last = Promise.resolve();
  const serially = (task: () => Promise<void>): Promise<void> => (last = last.then(task));
  // An address that endpoints may not have (a loopback one) is logged, and the server serves all the same.
  let logged = '';
  const loggingFailures = (failed: string, task: () => Promise<void>) => async (): Promise<void> => {
    try {
      await task();
      logged = '';
    } catch (error) {
      const text = `${failed}: ${errorText(error)}`;
      if (text !== logged) log.info(text);
      logged = text;
    }
  };
  const ensureSoon = async (until: AbortSignal): Promise<void> => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await ensure();
      } catch (error) {
        if (attempt === ENSURE_ATTEMPTS || until.aborted) throw error;
      }
      await wait(READY_POLL_MS, until);
    }
  };
  const unable = `unable to keep ${what}`;
  const sync = loggingFailures(unable, async () => {
    await ensure();
    await reconciler.reconcile();
  });
  const remove = loggingFailures(`unable to take this server away from ${what}`, () => reconciler.remove());
  return {
    async start(signal) {
      const until = AbortSignal.any([signal, ending.signal]);
      await serially(loggingFailures(unable, () => ensureSoon(until)));
      // What an earlier run of this server left: nobody is sent here before it is ready.
      await serially(remove);
      void (async () => {
        while (!until.aborted && !(await isReady())) await wait(READY_POLL_MS, until);
        if (!until.aborted) await repeat(() => serially(sync), { everyMs: EVERY_MS, signal: until, log });
      })();
    },
    async stop() {
      ending.abort();
      reconciler.stop();
      const removed = serially(remove);
      // A store that cannot be reached does not hold up the end for ever.
      const limit = new AbortController();
      await Promise.race([removed, pause(2 * EVERY_MS, limit.signal)]);
      limit.abort();
    },
  };
}
