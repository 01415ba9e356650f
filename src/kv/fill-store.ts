// Fills a store that others serve, as etcd, with the entries of a snapshot, under new revisions. Such a store cannot be put in
// place as a whole; so a marker lies in it from before the first key until after the last, and no server starts meanwhile.
// One that was interrupted goes on: what is there already is compared, and what is no longer in the snapshot removed.
import { type KeyValue, type KeyValueStore, KvError, prefixEnd, type WriteOptions } from './kv.js';
import type { SnapshotEntry } from './snapshot.js';

/** Beside all resources, of which none has a name like that. */
export const markerKey = (prefix: string): string => `${prefix}/binnacle-migration`;

const CONCURRENT_WRITES = 64;
const PAGE_KEYS = 1_000;

export interface FillOptions {
  readonly kv: KeyValueStore;
  /** All keys begin with it and a slash. */
  readonly prefix: string;
  readonly nowMs: () => number;
}

/** Fails where the store has something under the prefix that no interrupted run left. */
export async function refuseFilled(kv: KeyValueStore, prefix: string): Promise<'empty' | 'interrupted'> {
  if ((await kv.get(markerKey(prefix))) !== undefined) return 'interrupted';
  const { count } = await kv.range({ start: `${prefix}/`, end: prefixEnd(`${prefix}/`), countOnly: true });
  if (count === 0) return 'empty';
  throw new KvError('unavailable', `the target has ${count} keys under ${prefix}/ already`);
}

/** Answers how many keys were written. */
export async function fillStore(
  { kv, prefix, nowMs }: FillOptions,
  pages: AsyncIterable<readonly SnapshotEntry[]>,
): Promise<number> {
  const before = await refuseFilled(kv, prefix);
  if (before === 'empty') await kv.create(markerKey(prefix), Buffer.from('not finished'));
  const keys = new Set<string>([markerKey(prefix)]);
  let count = 0;
  for await (const page of pages) {
    const alive = page.filter(({ expiresAtMs }) => expiresAtMs === 0 || expiresAtMs > nowMs());
    await inParallel(alive, async (entry) => {
      await put(kv, entry, nowMs());
      keys.add(entry.key);
      count++;
    });
  }
  if (before === 'interrupted') await removeOthers(kv, prefix, keys);
  const marker = await kv.get(markerKey(prefix));
  if (marker !== undefined) await kv.delete(marker.key, marker.modRevision);
  return count;
}

async function put(kv: KeyValueStore, { key, value, expiresAtMs }: SnapshotEntry, nowMs: number): Promise<void> {
  const options: WriteOptions =
    expiresAtMs === 0 ? {} : { ttlSeconds: Math.max(1, Math.ceil((expiresAtMs - nowMs) / 1000)) };
  let result = await kv.create(key, value, options);
  while (!result.done) {
    const { current }: { current: KeyValue | undefined } = result;
    if (current?.value.equals(value)) return;
    result = await (current === undefined
      ? kv.create(key, value, options)
      : kv.update(key, current.modRevision, value, options));
  }
}

async function removeOthers(kv: KeyValueStore, prefix: string, keys: ReadonlySet<string>): Promise<void> {
  const end = prefixEnd(`${prefix}/`);
  for (let start: string | undefined = `${prefix}/`; start !== undefined;) {
    const { kvs } = await kv.range({ start, end, limit: PAGE_KEYS });
    await inParallel(
      kvs.filter(({ key }) => !keys.has(key)),
      ({ key, modRevision }) => kv.delete(key, modRevision),
    );
    const last = kvs.at(-1);
    start = last === undefined || kvs.length < PAGE_KEYS ? undefined : `${last.key}\0`;
  }
}

async function inParallel<T>(items: readonly T[], run: (item: T) => Promise<unknown>): Promise<void> {
  const left = [...items].reverse();
  const work = async (): Promise<void> => {
    for (let item = left.pop(); item !== undefined; item = left.pop()) await run(item);
  };
  await Promise.all(Array.from({ length: CONCURRENT_WRITES }, work));
}
