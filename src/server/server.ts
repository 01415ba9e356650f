// A server from its open port to its end.
import type { Logs } from '../lib/telemetry/log.js';
import type { Health } from './lifecycle/health.js';
import type { Lifecycle } from './lifecycle/lifecycle.js';
import { listen, type Listener, type ListenerOptions } from './listener/listener.js';
import type { PostStartHooks } from './lifecycle/post-start-hooks.js';

export interface ServerOptions {
  readonly listener: Omit<ListenerOptions, 'log'>;
  readonly lifecycle: Lifecycle;
  readonly health: Health;
  readonly hooks: PostStartHooks;
  readonly logs: Logs;
}

export interface RunningServer {
  readonly listener: Listener;
  /** Ends in order; resolves when all is closed. */
  shutdown(): Promise<void>;
  /** Looks at the files that it follows at once. */
  reload(): void;
  /** All post-start hooks have run; rejects when one failed. */
  readonly started: Promise<void>;
}

export async function startServer({
  listener: options,
  lifecycle,
  health,
  hooks,
  logs,
}: ServerOptions): Promise<RunningServer> {
  health.addReadyz({
    name: 'shutdown',
    check: () => (lifecycle.phase === 'serving' ? undefined : 'process is shutting down'),
  });
  const listener = await listen({ ...options, log: logs.for('listener') });
  const started = hooks.run(lifecycle.stopping, logs.for('post-start-hooks'));
  let ending: Promise<void> | undefined;
  return {
    listener,
    started,
    reload: () => lifecycle.reloads.request(),
    shutdown: () => (ending ??= lifecycle.shutdown(listener)),
  };
}
