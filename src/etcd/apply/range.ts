// What a Range answers, of the keys that were found: filtered, sorted, and cut off.
import { byteKeyIn } from '../../kv/embedded/byte-key.js';
import type { KeyRange } from '../../kv/embedded/range.js';
import type { Version } from '../../kv/embedded/records.js';
import { sortSteps } from '../../lib/scheduling/sort-steps.js';
import type { StepGenerator } from '../../lib/scheduling/yield.js';
import type { EtcdKeyValue, RangeRequest } from '../../kv/etcd/messages/kv.js';
import { spanOf } from '../key-range.js';
import { etcdKeyValue } from './key-value.js';

const SORT_ORDER = { none: 0, ascend: 1, descend: 2 } as const;
const SORT_TARGET = { key: 0, version: 1, create: 2, mod: 3, value: 4 } as const;

export interface RangeAnswer {
  readonly kvs: readonly EtcdKeyValue[];
  readonly more: boolean;
  readonly count: number;
}

const SORT_ORDERS: ReadonlySet<number> = new Set(Object.values(SORT_ORDER));
const SORT_TARGETS: ReadonlySet<number> = new Set(Object.values(SORT_TARGET));

export const isKnownSort = ({ sortOrder, sortTarget }: RangeRequest): boolean =>
  SORT_ORDERS.has(sortOrder) && SORT_TARGETS.has(sortTarget);

/** What to read for a request; what `gather` makes of a page. */
export function keyRangeOf<P>(
  request: RangeRequest,
  gather: (kvs: readonly EtcdKeyValue[]) => P,
): KeyRange<EtcdKeyValue, P> {
  const { start, end } = spanOf(request);
  const { limit, countOnly } = request;
  const isWhole = limit <= 0 || needsAll(request);
  const make = request.keysOnly && !needsAll(request) ? etcdKeyAlone : etcdKeyValue;
  return { start, end, countOnly, limit: isWhole ? 0 : limit, make, gather };
}

/** What is sorted or filtered is cut off after that. */
export const needsAll = (request: RangeRequest): boolean =>
  sortOf(request) !== undefined || filtersOf(request).length > 0;

/** Whether there is more than the limit, of a request that does not need all. */
export const hasMore = ({ limit }: RangeRequest, count: number): boolean => limit > 0 && count > limit;

/** Of the keys that were found, all that a request needs or more. */
export function* answerSteps(
  request: RangeRequest,
  { kvs: found, count }: { readonly kvs: readonly EtcdKeyValue[]; readonly count: number },
): StepGenerator<RangeAnswer> {
  const { limit, keysOnly } = request;
  const filters = filtersOf(request);
  const wanted = filters.length === 0 ? found : found.filter((kv) => filters.every((accepts) => accepts(kv)));
  const compare = sortOf(request);
  const sorted = compare === undefined ? wanted : yield* sortSteps([...wanted], compare);
  const isCut = limit > 0 && sorted.length > limit;
  const kvs = isCut ? sorted.slice(0, limit) : sorted;
  const more = isCut || (!needsAll(request) && hasMore(request, count));
  return { kvs: keysOnly ? kvs.map((kv) => ({ ...kv, value: NO_BYTES })) : kvs, more, count };
}

const NO_BYTES = Buffer.alloc(0);

const etcdKeyAlone = (key: string, version: Version): EtcdKeyValue => ({
  ...etcdKeyValue(key, version),
  value: NO_BYTES,
});

type Filter = (kv: EtcdKeyValue) => boolean;

function filtersOf(request: RangeRequest): readonly Filter[] {
  const { minModRevision, maxModRevision, minCreateRevision, maxCreateRevision } = request;
  const filters: Filter[] = [];
  if (maxModRevision !== 0) filters.push(({ modRevision }) => modRevision <= maxModRevision);
  if (minModRevision !== 0) filters.push(({ modRevision }) => modRevision >= minModRevision);
  if (maxCreateRevision !== 0) filters.push(({ createRevision }) => createRevision <= maxCreateRevision);
  if (minCreateRevision !== 0) filters.push(({ createRevision }) => createRevision >= minCreateRevision);
  return filters;
}

type Comparison = (a: EtcdKeyValue, b: EtcdKeyValue) => number;

/** Undefined for the order that keys are read in. */
function sortOf({ sortOrder, sortTarget }: RangeRequest): Comparison | undefined {
  const compare = COMPARISONS[sortTarget];
  if (compare === undefined || (sortTarget === SORT_TARGET.key && sortOrder !== SORT_ORDER.descend)) return undefined;
  return sortOrder === SORT_ORDER.descend ? (a, b) => compare(b, a) : compare;
}

const COMPARISONS: Readonly<Record<number, Comparison>> = {
  [SORT_TARGET.key]: (a, b) => (byteKeyIn(a.key) < byteKeyIn(b.key) ? -1 : 1),
  [SORT_TARGET.version]: (a, b) => a.version - b.version,
  [SORT_TARGET.create]: (a, b) => a.createRevision - b.createRevision,
  [SORT_TARGET.mod]: (a, b) => a.modRevision - b.modRevision,
  [SORT_TARGET.value]: (a, b) => a.value.compare(b.value),
};
