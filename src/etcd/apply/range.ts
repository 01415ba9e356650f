// What a Range answers, of the keys that were found: filtered, sorted, and cut off.
import { byteKeyIn } from '../../kv/embedded/byte-key.js';
import type { KeyRange } from '../../kv/embedded/past.js';
import type { Encodable } from '../../lib/protobuf/message.js';
import type { EtcdKeyValue, RANGE_RESPONSE, RangeRequest } from '../../kv/etcd/messages/kv.js';
import { spanOf } from '../key-range.js';
import { etcdKeyValue } from './key-value.js';

const SORT_ORDER = { none: 0, ascend: 1, descend: 2 } as const;
const SORT_TARGET = { key: 0, version: 1, create: 2, mod: 3, value: 4 } as const;

export type RangeAnswer = Encodable<typeof RANGE_RESPONSE>;

export const isKnownSort = ({ sortOrder, sortTarget }: RangeRequest): boolean =>
  Object.values<number>(SORT_ORDER).includes(sortOrder) && Object.values<number>(SORT_TARGET).includes(sortTarget);

/** What to read for a request. */
export function keyRangeOf(request: RangeRequest): KeyRange<EtcdKeyValue> {
  const { start, end } = spanOf(request);
  const { limit, countOnly } = request;
  // One more says whether there is more. What is sorted or filtered is cut off after that.
  const isWhole = limit <= 0 || needsAll(request);
  return { start, end, countOnly, limit: isWhole ? 0 : limit + 1, make: etcdKeyValue };
}

const needsAll = (request: RangeRequest): boolean => sortOf(request) !== undefined || filtersOf(request).length > 0;

export function rangeAnswer(
  request: RangeRequest,
  { kvs: found, count }: { readonly kvs: readonly EtcdKeyValue[]; readonly count: number },
): RangeAnswer {
  const { limit, keysOnly } = request;
  const filters = filtersOf(request);
  const wanted = filters.length === 0 ? found : found.filter((kv) => filters.every((accepts) => accepts(kv)));
  const compare = sortOf(request);
  const sorted = compare === undefined ? wanted : wanted.toSorted(compare);
  const more = limit > 0 && sorted.length > limit;
  const kvs = more ? sorted.slice(0, limit) : sorted;
  return { kvs: keysOnly ? kvs.map((kv) => ({ ...kv, value: NO_BYTES })) : kvs, more, count };
}

const NO_BYTES = Buffer.alloc(0);

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
