// From the first signal to the end of the process.
//
//   serving ── signal ─▶ delaying ── delay over, hooks done ─▶ draining ── nothing in flight ─▶ closed
//
//   delaying   requests are served as ever; only /readyz fails, so that load balancers look elsewhere
//   draining   with --shutdown-send-retry-after the port stays open and new requests get 429; without, it closes.
//              Watches are ended, within --shutdown-watch-termination-grace-period when one is set
import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { type Draining, InFlight, OpenWatches } from '../../filters/draining.js';
import { ReloadRequests } from '../../lib/files/reload-requests.js';
import type { Logger } from '../../lib/telemetry/log.js';
import type { Listener } from '../listener/listener.js';

export interface LifecycleOptions {
  /** `--shutdown-delay-duration` */
  readonly shutdownDelayMs: number;
  readonly shutdownSendRetryAfter: boolean;
  readonly shutdownWatchTerminationGracePeriodMs: number;
  /** Resolves when the other processes of this server have come this far, too; absent where there are none. */
  readonly inStep?: (phase: 'draining' | 'drained' | 'closing') => Promise<void>;
  readonly log: Logger;
}

export type Phase = 'serving' | 'delaying' | 'draining' | 'closed';

/** How long connections may take to close: a client answers GOAWAY within a second or not at all. */
const CLOSE_AFTER_DRAIN_MS = 2_000;
const CLOSE_WHILE_DRAINING_MS = 60_000;

export class Lifecycle implements Draining {
  phase: Phase = 'serving';
  readonly requests = new InFlight();
  readonly watches = new OpenWatches();
  /** For all that follow files. */
  readonly reloads = new ReloadRequests();
  private readonly preShutdown: { readonly name: string; run(): Promise<void> | void }[] = [];
  private readonly afterDrain: (() => Promise<void> | void)[] = [];
  private readonly stop = new AbortController();

  constructor(private readonly options: LifecycleOptions) {
    // All that works in the background listens, for as long as the process lives.
    setMaxListeners(0, this.stop.signal);
  }

  get notAcceptingNewRequests(): boolean {
    return this.phase === 'draining' || this.phase === 'closed';
  }

  /** Aborts when nothing is in flight any more: until then requests still need the work in the background. */
  get stopping(): AbortSignal {
    return this.stop.signal;
  }

  /** Runs at the first signal, while requests are still served, since it may make some itself. */
  onShutdown(name: string, run: () => Promise<void> | void): void {
    this.preShutdown.push({ name, run });
  }

  /** Runs when nothing is in flight any more: stores and logs close here, in the reverse order of registration. */
  onDrained(run: () => Promise<void> | void): void {
    this.afterDrain.unshift(run);
  }

  async shutdown(listener: Listener): Promise<void> {
    const { options } = this;
    const event = (name: string): void => options.log.v(1)?.info('[graceful-termination] shutdown event', { name });
    this.phase = 'delaying';
    event('ShutdownInitiated');
    await Promise.all([delay(options.shutdownDelayMs), this.runPreShutdown()]);
    await options.inStep?.('draining');
    event('AfterShutdownDelayDuration');

    this.phase = 'draining';
    event('NotAcceptingNewRequest');
    const closing = options.shutdownSendRetryAfter ? undefined : listener.close(CLOSE_WHILE_DRAINING_MS);
    await Promise.all([this.requests.drained(), this.watches.end(options.shutdownWatchTerminationGracePeriodMs)]);
    await options.inStep?.('drained');
    event('InFlightRequestsDrained');
    this.stop.abort();
    await (closing ?? listener.close(CLOSE_AFTER_DRAIN_MS));
    event('HTTPServerStoppedListening');
    this.phase = 'closed';
    await options.inStep?.('closing');
    for (const run of this.afterDrain) await run();
    options.log.v(1)?.info('[graceful-termination] apiserver is exiting');
  }

  private async runPreShutdown(): Promise<void> {
    for (const hook of this.preShutdown) {
      try {
        await hook.run();
      } catch (error) {
        this.options.log.error(error, 'PreShutdownHook failed', { name: hook.name });
      }
    }
  }
}

/** Resolves at the first SIGTERM or SIGINT; the second ends the process at once. */
export function firstSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let seen = false;
    const onSignal = (signal: NodeJS.Signals): void => {
      if (seen) process.exit(1);
      seen = true;
      resolve(signal);
    };
    process.on('SIGTERM', onSignal);
    process.on('SIGINT', onSignal);
  });
}
