import type { Logger } from '../../lib/telemetry/log.js';
import type { PolicyCompiler } from '../../cel/compiled-policy.js';
import { startInformer } from '../../storage/informer.js';
import type { ResourceStore } from '../../storage/store.js';
import { informerReady, type Readiness } from '../informer-ready.js';
import { type Hook, HookIndex } from './hook-index.js';

/** The webhooks in force at this moment. */
export interface HookSource extends Readiness {
  readonly hooks: readonly Hook[];
}

export interface HookInformersOptions {
  readonly configurations: ResourceStore;
  readonly compiler: PolicyCompiler;
  readonly signal: AbortSignal;
  readonly log: Logger;
  readonly wait: (ms: number) => Promise<void>;
}

/** The configurations of one kind as they change, until the signal aborts. */
export function startHookInformers({ configurations, compiler, signal, log, wait }: HookInformersOptions): HookSource {
  const index = new HookIndex(compiler);
  const informer = startInformer({
    store: configurations,
    signal,
    log,
    onUpsert: (stored) => index.put(stored.object()),
    // Configurations have no namespaces: the key is the name.
    onDelete: (stored) => index.remove(stored.key),
  });
  const readiness = informerReady([informer], { signal, wait });
  return {
    get ready() {
      return readiness.ready;
    },
    whenReady: () => readiness.whenReady(),
    get hooks() {
      return index.hooks;
    },
  };
}
