import type { MaybePromise } from '../lib/async/maybe-promise.js';
import type { AuditEvent } from './event.js';

/** Somewhere events go. */
export interface AuditBackend {
  /** Stores events; may be slow, or fail. */
  readonly isWaitedFor: boolean;
  /** False when they could not be stored, and requests are not to be served unrecorded. It never throws. */
  process(events: readonly AuditEvent[]): MaybePromise<boolean>;
  /** Stores what is still waiting, and ends. */
  close(): Promise<void>;
}

/** Receives events that were lost, with the back end and the error. */
export type OnLost = (plugin: AuditPlugin, why: unknown, events: readonly AuditEvent[]) => void;

export type AuditPlugin = 'log' | 'webhook' | 'buffered' | 'truncate';

/** Every back end gets every event, one after another. */
export function union(backends: readonly AuditBackend[]): AuditBackend {
  const [only] = backends;
  if (only !== undefined && backends.length === 1) return only;
  return {
    isWaitedFor: backends.some((backend) => backend.isWaitedFor),
    process(events) {
      const results = backends.map((backend) => backend.process(events));
      if (!results.some((result) => result instanceof Promise)) return results.every(Boolean);
      return Promise.all(results.map((result) => Promise.resolve(result))).then((stored) => stored.every(Boolean));
    },
    async close() {
      await Promise.all(backends.map((backend) => backend.close()));
    },
  };
}

/** Mode `blocking`: the answer waits, but goes out whatever comes of the events. */
export const ignoringErrors = (backend: AuditBackend): AuditBackend => ({
  isWaitedFor: true,
  process(events) {
    const result = backend.process(events);
    return result instanceof Promise ? result.then(() => true) : true;
  },
  close: () => backend.close(),
});
