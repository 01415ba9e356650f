// The faults of one cluster: none until somebody sets some.
import type { FaultInjection } from '../../filters/fault-injection.js';
import { FaultRules } from '../../filters/fault-rules.js';
import type { MemoryStore } from '../../kv/memory.js';
import type { FaultRuleSettings, FaultsState } from '../protocol/control.js';
import type { ReadFaults } from './read-faults.js';

export class Faults implements FaultInjection {
  rules: FaultRules | undefined;
  #seed = 1;
  #settings: readonly FaultRuleSettings[] = [];
  readonly #store: Pick<MemoryStore, 'known'>;

  constructor(store: Pick<MemoryStore, 'known'>) {
    this.#store = store;
  }

  /** The chance and the counts begin anew. */
  set({ seed, settings, rules }: ReadFaults): FaultsState {
    this.#seed = seed;
    this.#settings = settings;
    this.rules = rules.length === 0 ? undefined : new FaultRules(rules, seed);
    return this.state();
  }

  state(): FaultsState {
    return { seed: this.#seed, rules: this.#settings, hits: this.rules?.hits ?? [] };
  }

  versionBefore(changes: number): number {
    const { oldest, newest } = this.#store.known();
    return Math.max(oldest, newest - changes);
  }
}
