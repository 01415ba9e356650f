import type { PolicyCompiler } from '../../cel/compiled-policy.js';
import { followStore } from '../../storage/follow-store.js';
import type { ResourceStore } from '../../storage/store.js';
import { followedReady, type Readiness } from '../followed-ready.js';
import { type Hook, HookIndex } from './hook-index.js';

/** The webhooks in force at this moment. */
export interface HookSource extends Readiness {
  readonly hooks: readonly Hook[];
}

export interface FollowHooksOptions {
  readonly configurations: ResourceStore;
  readonly compiler: PolicyCompiler;
  readonly signal: AbortSignal;
  readonly log: (message: string) => void;
  readonly wait: (ms: number) => Promise<void>;
}

/** The configurations of one kind as they change, until the signal aborts. */
export function followHooks({ configurations, compiler, signal, log, wait }: FollowHooksOptions): HookSource {
  const index = new HookIndex(compiler);
  const followed = followStore({
    store: configurations,
    signal,
    log,
    put: (stored) => index.put(stored.object()),
    // Configurations have no namespaces: the key is the name.
    gone: (stored) => index.remove(stored.key),
  });
  const readiness = followedReady([followed], { signal, wait });
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
