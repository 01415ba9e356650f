// Deletes objects whose owners are gone, and holds owners back or orphans dependents as the propagation policy says.
import { eachStep, runCooperatively } from '../../lib/scheduling/yield.js';
import type { ResourceRegistry } from '../../registry/registry.js';
import { startInformer } from '../../storage/informer.js';
import type { ControllerParts } from '../controller.js';
import { WorkQueue } from '../../lib/async/work-queue.js';
import { collect } from './collect.js';
import { Graph } from './graph.js';

const CONCURRENCY = 20;
/** How soon the objects of a kind that is newly served are followed. */
const KINDS_EVERY_MS = 1000;

export async function startGarbageCollector(parts: ControllerParts): Promise<void> {
  const { clock, signal, log } = parts;
  const graph = new Graph();
  const followed = new Map<unknown, AbortController>();
  // Nothing is decided while dependents may be unknown.
  let known: Promise<unknown> = Promise.resolve();
  let fromStart = true;
  const queue = new WorkQueue({
    name: 'garbagecollector',
    work: async (uid) => {
      await known;
      return collect({ parts, graph, enqueue: (other) => queue.add(other) }, uid);
    },
    concurrency: CONCURRENCY,
    clock,
    signal,
    log,
  });

  followKinds();
  fromStart = false;
  const again = (): void => {
    if (signal.aborted) return;
    followKinds();
    clock.after(KINDS_EVERY_MS, again);
  };
  clock.after(KINDS_EVERY_MS, again);
  await known;

  function followKinds(): void {
    const served = new Map(
      parts
        .registries()
        .filter(isCollected)
        .map((registry) => [registry.store, registry]),
    );
    const synced = [...served].flatMap(([store, registry]) => (followed.has(store) ? [] : follow(registry)));
    for (const [store, stop] of followed) {
      if (served.has(store as ResourceRegistry['store'])) continue;
      stop.abort();
      followed.delete(store);
    }
    if (synced.length > 0) known = Promise.all([known, ...synced]);
  }

  function follow(registry: ResourceRegistry): Promise<void> {
    const stop = new AbortController();
    followed.set(registry.store, stop);
    // The end of one owner may concern a hundred thousand.
    const touch = (uids: ReadonlySet<string>): void => {
      if (uids.size === 0) return;
      void runCooperatively(eachStep([...uids], (uid) => queue.add(uid)));
    };
    const until = AbortSignal.any([signal, stop.signal]);
    const { synced, objects } = startInformer({
      store: registry.store,
      signal: until,
      log,
      onUpsert: (stored) => touch(graph.put(registry, stored)),
      onDelete: (stored) => touch(graph.gone(registry, stored)),
    });
    // The kinds that are there from the start are all known before anything is decided.
    return fromStart
      ? synced
      : synced.then(() => {
          if (!until.aborted) touch(graph.settle(registry, objects));
        });
  }
}

/** Events are many and own nothing; they go by themselves. What is not stored cannot be collected. */
function isCollected({ kind, resource }: ResourceRegistry): boolean {
  if (kind.virtual !== undefined) return false;
  if (kind.verbs !== undefined && !['delete', 'list', 'watch'].every((verb) => kind.verbs?.some((v) => v === verb))) {
    return false;
  }
  return resource.resource !== 'events';
}
