// Keeps the status of quotas true: what is hard, and what is used by the objects that are there. Admission adds what
// it lets in; what goes, and what uses less than before, is counted here.
import { evaluatorFor } from '../admission/quota/evaluators.js';
import type { QuotaEvaluator } from '../admission/quota/evaluator.js';
import { scopesOf } from '../admission/quota/scope.js';
import { deepEqual } from '../lib/values/deep-equal.js';
import { Yielder } from '../lib/scheduling/yield.js';
import { addQuantities, compareQuantities, formatQuantity } from '../machinery/quantity.js';
import type { ResourceRegistry } from '../registry/registry.js';
import type { ResourceList, ResourceQuota } from '../schema/generated/core.v1.js';
import { type Informer, startInformer } from '../storage/informer.js';
import { type ControllerParts, registryOf, updateSame } from './controller.js';
import { WorkQueue } from '../lib/async/work-queue.js';

const QUOTAS = { group: '', resource: 'resourcequotas' };
const CONCURRENCY = 5;
/** All quotas are recounted so often, whatever events came. */
const RECOUNT_EVERY_MS = 5 * 60_000;
/** How soon a kind that is no longer served is left alone. */
const KINDS_EVERY_MS = 1000;
/** A slow count is followed by a pause of so many times its duration: else each of many deletions would cause a recount. */
const REST_FACTOR = 10;
const SHORT_MS = 10;

interface Counted {
  readonly registry: ResourceRegistry;
  readonly evaluator: QuotaEvaluator;
}

export const startResourceQuotaController = (parts: ControllerParts): Promise<void> =>
  new ResourceQuotaController(parts).start();

class ResourceQuotaController {
  readonly #parts: ControllerParts;
  readonly #queue: WorkQueue;
  readonly #quotas: Informer;
  /** The informers of what some quota counts, by store. */
  readonly #followed = new Map<unknown, AbortController>();
  /** Quotas that were just counted, and whether they are to be again. */
  readonly #resting = new Map<string, boolean>();

  constructor(parts: ControllerParts) {
    const { clock, signal, log } = parts;
    this.#parts = parts;
    this.#queue = new WorkQueue({
      name: 'resourcequota',
      concurrency: CONCURRENCY,
      clock,
      signal,
      log,
      work: (key) => this.#count(key),
    });
    this.#quotas = startInformer({
      store: registryOf(parts, QUOTAS).store,
      signal,
      log,
      onUpsert: (stored, before) => {
        const { spec, status } = stored.object() as Readonly<ResourceQuota>;
        const old = before?.object() as Readonly<ResourceQuota> | undefined;
        if (old !== undefined && deepEqual(spec, old.spec) && deepEqual(spec.hard, status.hard)) return;
        this.#queue.add(stored.key);
      },
      onDelete: () => undefined,
    });
  }

  async start(): Promise<void> {
    const { clock } = this.#parts;
    clock.after(RECOUNT_EVERY_MS, this.#recount);
    clock.after(KINDS_EVERY_MS, this.#leaveUnserved);
    await this.#quotas.synced;
  }

  async #count(key: string): Promise<'done' | 'again'> {
    const quota = this.#quotas.objects.get(key)?.object() as Readonly<ResourceQuota> | undefined;
    if (quota === undefined) return 'done';
    const counted = countedBy(this.#parts, quota);
    await Promise.all(counted.map((each) => this.#follow(each)));
    const startedMs = performance.now();
    try {
      return await settle(this.#parts, quota, counted);
    } finally {
      this.#rest(key, performance.now() - startedMs);
    }
  }

  #countAll(): void {
    for (const key of this.#quotas.objects.keys()) this.#queue.add(key);
  }

  readonly #recount = (): void => {
    const { clock, signal } = this.#parts;
    this.#countAll();
    if (!signal.aborted) clock.after(RECOUNT_EVERY_MS, this.#recount);
  };

  readonly #leaveUnserved = (): void => {
    const { clock, signal, registries } = this.#parts;
    const served = new Set<unknown>(registries().map(({ store }) => store));
    for (const [store, stop] of this.#followed) {
      if (served.has(store)) continue;
      stop.abort();
      this.#followed.delete(store);
      // A custom kind that was changed is served from another store: counting finds it.
      this.#countAll();
    }
    if (!signal.aborted) clock.after(KINDS_EVERY_MS, this.#leaveUnserved);
  };

  /** Only what some quota counts is followed. */
  async #follow({ registry, evaluator }: Counted): Promise<void> {
    if (this.#followed.has(registry.store)) return;
    const { signal, log, context } = this.#parts;
    const stop = new AbortController();
    this.#followed.set(registry.store, stop);
    const { synced } = startInformer({
      store: registry.store,
      signal: AbortSignal.any([signal, stop.signal]),
      log,
      onUpsert: (stored, before) => {
        if (before === undefined || evaluator.each !== undefined) return;
        const usage = evaluator.usage(stored.object(), context());
        if (!deepEqual(usage, evaluator.usage(before.object(), context()))) this.#enqueue(stored.key, evaluator);
      },
      onDelete: (stored) => this.#enqueue(stored.key, evaluator),
    });
    await synced;
  }

  #enqueue(changed: string, evaluator: QuotaEvaluator): void {
    const namespace = changed.slice(0, changed.indexOf('/') + 1);
    for (const [key, stored] of this.#quotas.objects) {
      if (!key.startsWith(namespace)) continue;
      const { spec } = stored.object() as Readonly<ResourceQuota>;
      if (!Object.keys(spec.hard ?? {}).some((name) => evaluator.counts(name))) continue;
      if (this.#resting.has(key)) this.#resting.set(key, true);
      else this.#queue.add(key);
    }
  }

  #rest(key: string, countedMs: number): void {
    if (countedMs < SHORT_MS || this.#resting.has(key)) return;
    this.#resting.set(key, false);
    this.#parts.clock.after(countedMs * REST_FACTOR, () => {
      const isWanted = this.#resting.get(key) === true;
      this.#resting.delete(key);
      if (isWanted) this.#queue.add(key);
    });
  }
}

function countedBy(parts: ControllerParts, { spec }: Readonly<ResourceQuota>): Counted[] {
  const names = Object.keys(spec.hard ?? {});
  return parts.registries().flatMap((registry) => {
    const { kind } = registry;
    if (!kind.namespaced || kind.virtual !== undefined) return [];
    const evaluator = evaluatorFor({ group: kind.group, resource: kind.plural }, parts.context().features);
    return evaluator !== undefined && names.some((name) => evaluator.counts(name)) ? [{ registry, evaluator }] : [];
  });
}

async function settle(
  parts: ControllerParts,
  quota: Readonly<ResourceQuota>,
  counted: readonly Counted[],
): Promise<'done' | 'again'> {
  const hard = quota.spec.hard ?? {};
  const usage = await usageOf(parts, quota, counted);
  // What nobody counts keeps the number it has.
  const all = { ...quota.status.used, ...usage };
  const used = Object.fromEntries(Object.entries(all).filter(([name]) => hard[name] !== undefined));
  if (sameAmounts(hard, quota.status.hard) && sameAmounts(used, quota.status.used)) return 'done';
  let stale = false;
  await updateSame(parts.client, {
    resource: QUOTAS,
    object: quota,
    change: (object) => {
      // Admission has counted something in meanwhile, which must not be lost.
      stale = object.metadata.resourceVersion !== quota.metadata.resourceVersion;
      return stale ? object : ({ ...object, status: { hard, used } } as ResourceQuota);
    },
    subresource: 'status',
  });
  return stale ? 'again' : 'done';
}

async function usageOf(
  { context }: ControllerParts,
  quota: Readonly<ResourceQuota>,
  counted: readonly Counted[],
): Promise<ResourceList> {
  const life = { ...context(), namespace: quota.metadata.namespace ?? '' };
  const scopes = scopesOf(quota);
  const total: ResourceList = {};
  const add = (usage: Readonly<ResourceList>): void => {
    for (const [name, amount] of Object.entries(usage)) {
      if (total[name] !== undefined) total[name] = formatQuantity(addQuantities(total[name], amount));
    }
  };
  const yielder = new Yielder();
  for (const { registry, evaluator } of counted) {
    for (const name of Object.keys(quota.spec.hard ?? {})) if (evaluator.counts(name)) total[name] ??= '0';
    const everything = { resourceVersion: '', resourceVersionMatch: '', limit: 0, continue: '' } as const;
    const { items } = await registry.store.list({ namespace: life.namespace, ...everything });
    if (evaluator.each !== undefined && scopes.length === 0) {
      add(Object.fromEntries(Object.keys(evaluator.each).map((name) => [name, String(items.length)])));
      continue;
    }
    for (const stored of items) {
      await yielder.yieldIfDue();
      const object = stored.object();
      if (scopes.every((scope) => evaluator.matchesScope?.(scope, object, life) === true)) {
        add(evaluator.usage(object, life));
      }
    }
  }
  return total;
}

function sameAmounts(left: ResourceList, right: ResourceList | undefined): boolean {
  const names = Object.keys(left);
  return (
    right !== undefined &&
    names.length === Object.keys(right).length &&
    names.every((name) => right[name] !== undefined && compareQuantities(left[name] ?? '0', right[name]) === 0)
  );
}
