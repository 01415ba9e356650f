// Keeps the API's own service, and this server's address among its endpoints for as long as the server is ready.
import { errorText } from '../lib/error-text.js';
import { pause } from '../lib/pause.js';
import { repeat } from '../lib/repeat.js';
import type { EndpointReconciler } from './endpoint-reconcilers.js';

export interface ApiServiceControllerOptions {
  readonly ensureService: () => Promise<void>;
  readonly reconciler: EndpointReconciler;
  /** Whether this server is ready: until then nobody is to be sent to it. */
  readonly isReady: () => Promise<boolean>;
  readonly everyMs: number;
  readonly log: (message: string) => void;
}

export interface ApiServiceController {
  start(signal: AbortSignal): Promise<void>;
  /** Takes this server's address away, so that no client is sent to it any more. */
  stop(): Promise<void>;
}

const READY_POLL_MS = 100;

export function createApiServiceController(options: ApiServiceControllerOptions): ApiServiceController {
  const { ensureService, reconciler, isReady, everyMs, log } = options;
  const ending = new AbortController();
  let turn = Promise.resolve();
  const inTurn = (task: () => Promise<void>): Promise<void> => (turn = turn.then(task));
  // An address that endpoints may not have (a loopback one) is told, and the server serves all the same.
  let told = '';
  const telling = (what: string, task: () => Promise<void>) => async (): Promise<void> => {
    try {
      await task();
      told = '';
    } catch (error) {
      const text = `${what}: ${errorText(error)}`;
      if (text !== told) log(text);
      told = text;
    }
  };
  const keepService = telling('unable to keep the service of the API', ensureService);
  const sync = telling('unable to keep the service of the API', async () => {
    await ensureService();
    await reconciler.reconcile();
  });
  return {
    async start(signal) {
      const until = AbortSignal.any([signal, ending.signal]);
      await inTurn(keepService);
      // What an earlier run of this server left: nobody is sent here before it is ready.
      await inTurn(telling('unable to remove stale endpoints', () => reconciler.remove()));
      void (async () => {
        while (!until.aborted && !(await isReady())) await pause(READY_POLL_MS, until);
        if (!until.aborted) await repeat(() => inTurn(sync), { everyMs, signal: until, log });
      })();
    },
    async stop() {
      ending.abort();
      reconciler.stop();
      const removed = inTurn(telling('unable to remove endpoints of the API', () => reconciler.remove()));
      // A store that cannot be reached does not hold up the end for ever.
      const patience = new AbortController();
      await Promise.race([removed, pause(2 * everyMs, patience.signal)]);
      patience.abort();
    },
  };
}
