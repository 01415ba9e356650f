// How many objects of each resource are stored, counted now and then for metrics.
import type { Logger } from '../../lib/telemetry/log.js';
import { errorText } from '../../lib/text/error-text.js';
import type { MetricRegistry } from '../../lib/telemetry/metrics.js';
import { every } from '../../lib/async/repeat.js';
import { type GroupResource, groupResourceText } from '../../machinery/status.js';
import type { LocalReads, ResourceStore } from '../../storage/store.js';
import type { PostStartHook } from '../lifecycle/post-start-hooks.js';

export interface ObjectCountOptions {
  readonly metrics: MetricRegistry;
  /** What is stored now: custom resources come and go. */
  readonly stored: () => Iterable<{ readonly resource: GroupResource; readonly store: CountedStore }>;
  /** Their bytes are reported as well: the gate SizeBasedListCostEstimate. */
  readonly sizes: boolean;
  /** `--etcd-count-metric-poll-period` */
  readonly everyMs: number;
  readonly log: Logger;
}

/** `local`: of a store with a watch cache. */
type CountedStore = Pick<ResourceStore, 'count'> & { readonly local?: Pick<LocalReads, 'amount'> | undefined };

/** Nothing waits for the first count: it may be long. */
export function objectCountHook({ metrics, stored, sizes, everyMs, log }: ObjectCountOptions): PostStartHook {
  const help = 'Stored objects at the last count; -1 when they could not be counted.';
  const objects = metrics.gauge({
    name: 'apiserver_storage_objects',
    across: 'max',
    help,
    labels: ['resource'],
    stability: 'STABLE',
  });
  const byGroup = metrics.gauge({
    name: 'apiserver_resource_objects',
    across: 'max',
    help,
    labels: ['group', 'resource'],
    stability: 'ALPHA',
  });
  const bytes = metrics.gauge({
    name: 'apiserver_resource_size_estimate_bytes',
    across: 'max',
    help: 'Bytes of the stored objects, by those that are at hand; -1 where none are.',
    labels: ['group', 'resource'],
    stability: 'ALPHA',
  });
  const reported = new Map<string, GroupResource>();
  const count = async (): Promise<void> => {
    const gone = new Map(reported);
    for (const { resource, store } of stored()) {
      const name = groupResourceText(resource);
      const found = await store.count().catch(() => -1);
      objects.with(name).set(found);
      byGroup.with(resource.group, resource.resource).set(found);
      if (sizes)
        bytes.with(resource.group, resource.resource).set(found === 0 ? 0 : (store.local?.amount?.bytes ?? -1));
      reported.set(name, resource);
      gone.delete(name);
    }
    for (const [name, { group, resource }] of gone) {
      objects.remove(name);
      byGroup.remove(group, resource);
      bytes.remove(group, resource);
      reported.delete(name);
    }
  };
  return {
    name: 'storage-object-count-tracker-hook',
    run(signal) {
      count().catch((error: unknown) => log.warning(errorText(error)));
      every(count, { everyMs, signal, log });
    },
  };
}
