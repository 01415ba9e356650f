// Deletes what is in a namespace: pods first, and the rest once no pod can miss it.
import { errorText } from '../../lib/text/error-text.js';
import { Yielder } from '../../lib/scheduling/yield.js';
import type { KubeObject } from '../../machinery/object.js';
import type { ResourceRegistry } from '../../registry/registry.js';
import type { StoredObject } from '../../storage/store.js';
import type { ServerClient } from '../../registry/server-client.js';
import { inBatches } from '../controller.js';
import { podDeleteOptions } from '../pod-grace.js';
import type { Emptying } from './conditions.js';

export interface EmptyOptions {
  readonly client: ServerClient;
  readonly registries: readonly ResourceRegistry[];
}

/** One round: deletes what can go now, and returns what is left. */
export async function emptyNamespace(options: EmptyOptions, namespace: string): Promise<Emptying & { empty: boolean }> {
  const { pods, others } = contents(options.registries);
  const round = new Round(options.client, namespace);
  for (const registry of pods) await round.clear(registry);
  // While pods run, what they use stays; and the rest is not counted before its deletion is requested.
  if (round.remaining.size > 0) return { failures: round.failures, empty: false };
  for (const registry of others) await round.clear(registry);
  const { failures, remaining, finalizers } = round;
  return { failures, remaining, finalizers, empty: remaining.size === 0 && failures.length === 0 };
}

class Round {
  readonly failures: string[] = [];
  readonly remaining = new Map<string, number>();
  readonly finalizers = new Map<string, number>();

  constructor(
    private readonly client: ServerClient,
    private readonly namespace: string,
  ) {}

  async clear(registry: ResourceRegistry): Promise<void> {
    try {
      await inBatches(await this.#list(registry), (stored) => this.#delete(registry, stored.object()));
      await this.#count(registry, await this.#list(registry));
    } catch (error) {
      this.failures.push(errorText(error));
    }
  }

  async #delete(registry: ResourceRegistry, object: Readonly<KubeObject>): Promise<void> {
    if (isEnding(object)) return;
    const isPod = registry.resource.group === '' && registry.resource.resource === 'pods';
    const options = isPod ? await podDeleteOptions(this.client, object) : {};
    await this.client.delete(registry.resource, object, { propagationPolicy: 'Background', ...options });
  }

  async #count(registry: ResourceRegistry, left: readonly StoredObject[]): Promise<void> {
    if (left.length === 0) return;
    const { group, resource } = registry.resource;
    this.remaining.set(`${resource}.${group}`, left.length);
    let held = 0;
    const yielder = new Yielder();
    for (const stored of left) {
      await yielder.yieldIfDue();
      const { finalizers = [], deletionGracePeriodSeconds = 0 } = stored.object().metadata;
      if (finalizers.length > 0 || deletionGracePeriodSeconds > 0) held++;
      for (const name of finalizers) this.finalizers.set(name, (this.finalizers.get(name) ?? 0) + 1);
    }
    if (held > 0) return;
    const version = `${group}/${registry.kind.storageVersion}`;
    this.failures.push(
      `unexpected items still remain in namespace: ${this.namespace} for gvr: ${version}, Resource=${resource}`,
    );
  }

  async #list({ store }: ResourceRegistry): Promise<readonly StoredObject[]> {
    const everything = { resourceVersion: '', resourceVersionMatch: '', limit: 0, continue: '' } as const;
    return (await store.list({ namespace: this.namespace, ...everything })).items;
  }
}

/** Deletion was requested before, with no grace period left to shorten. */
function isEnding({ metadata }: Readonly<KubeObject>): boolean {
  return metadata.deletionTimestamp !== undefined && (metadata.deletionGracePeriodSeconds ?? 0) === 0;
}

/** What is kept in namespaces and can be deleted; each store once, whatever groups serve it. */
function contents(registries: readonly ResourceRegistry[]): { pods: ResourceRegistry[]; others: ResourceRegistry[] } {
  const pods: ResourceRegistry[] = [];
  const others: ResourceRegistry[] = [];
  const stores = new Set<unknown>();
  for (const registry of registries) {
    const { kind, store } = registry;
    if (!kind.namespaced || kind.virtual !== undefined) continue;
    if (kind.verbs !== undefined && !kind.verbs.includes('delete')) continue;
    if (stores.has(store)) continue;
    stores.add(store);
    (registry.resource.group === '' && registry.resource.resource === 'pods' ? pods : others).push(registry);
  }
  return { pods, others };
}
