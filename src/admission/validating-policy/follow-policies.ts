import type { CompiledPolicy } from '../../cel/compiled-policy.js';
import { followStore } from '../../storage/follow-store.js';
import type { ResourceStore, StoredObject } from '../../storage/store.js';
import { followedReady, type Readiness } from '../followed-ready.js';
import { type BindingSpec, type BoundPolicy, PolicyIndex, type PolicySpec } from './policy-index.js';

/** The policies in force at this moment. */
export interface PolicySource<Spec extends PolicySpec, Bound extends BindingSpec> extends Readiness {
  readonly bound: readonly BoundPolicy<Spec, Bound>[];
}

export interface FollowPoliciesOptions<Spec> {
  readonly policies: ResourceStore;
  readonly bindings: ResourceStore;
  readonly compile: (spec: Readonly<Spec>) => CompiledPolicy;
  readonly signal: AbortSignal;
  readonly log: (message: string) => void;
  readonly wait: (ms: number) => Promise<void>;
}

/** Policies and bindings as they change, until the signal aborts. */
export function followPolicies<Spec extends PolicySpec, Bound extends BindingSpec>(
  options: FollowPoliciesOptions<Spec>,
): PolicySource<Spec, Bound> {
  const { policies, bindings, signal, log, wait } = options;
  const index = new PolicyIndex<Spec, Bound>(options.compile);
  const followed = [
    followStore({
      store: policies,
      signal,
      log,
      put: (stored) => index.putPolicy(stored.object()),
      gone: (stored) => index.removePolicy(nameOf(stored)),
    }),
    followStore({
      store: bindings,
      signal,
      log,
      put: (stored) => index.putBinding(stored.object()),
      gone: (stored) => index.removeBinding(nameOf(stored)),
    }),
  ];
  const readiness = followedReady(followed, { signal, wait });
  return {
    get ready() {
      return readiness.ready;
    },
    whenReady: () => readiness.whenReady(),
    get bound() {
      return index.bound;
    },
  };
}

/** Neither kind has namespaces: the key is the name. */
const nameOf = (stored: StoredObject): string => stored.key;
