import type { Logger } from '../../lib/telemetry/log.js';
import type { CompiledPolicy } from '../../cel/compiled-policy.js';
import { startInformer } from '../../storage/informer.js';
import type { ResourceStore, StoredObject } from '../../storage/store.js';
import { informerReady, type Readiness } from '../informer-ready.js';
import { type BindingSpec, type BoundPolicy, PolicyIndex, type PolicySpec } from './policy-index.js';

/** The policies in force at this moment. */
export interface PolicySource<Spec extends PolicySpec, Bound extends BindingSpec> extends Readiness {
  readonly bound: readonly BoundPolicy<Spec, Bound>[];
}

export interface PolicyInformersOptions<Spec> {
  readonly policies: ResourceStore;
  readonly bindings: ResourceStore;
  readonly compile: (spec: Readonly<Spec>) => CompiledPolicy;
  readonly signal: AbortSignal;
  readonly log: Logger;
  readonly wait: (ms: number) => Promise<void>;
}

/** Policies and bindings as they change, until the signal aborts. */
export function startPolicyInformers<Spec extends PolicySpec, Bound extends BindingSpec>(
  options: PolicyInformersOptions<Spec>,
): PolicySource<Spec, Bound> {
  const { policies, bindings, signal, log, wait } = options;
  const index = new PolicyIndex<Spec, Bound>(options.compile);
  const followed = [
    startInformer({
      store: policies,
      signal,
      log,
      onUpsert: (stored) => index.putPolicy(stored.object()),
      onDelete: (stored) => index.removePolicy(nameOf(stored)),
    }),
    startInformer({
      store: bindings,
      signal,
      log,
      onUpsert: (stored) => index.putBinding(stored.object()),
      onDelete: (stored) => index.removeBinding(nameOf(stored)),
    }),
  ];
  const readiness = informerReady(followed, { signal, wait });
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
