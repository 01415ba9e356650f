// How much of the server a request will use, before it is done: lists by the bytes they read, writes by how many watches
// receive them.
import type { RequestInfo } from '../machinery/request-info.js';
import type { WorkEstimate } from './ticket.js';

export interface StoredAmount {
  readonly objects: number;
  readonly averageBytes: number;
}

export interface ListQuery {
  readonly limit: number;
  readonly resourceVersion: string;
  readonly resourceVersionMatch: string;
  readonly continueToken: string;
  readonly selected: boolean;
  readonly sendInitialEvents: boolean;
}

export interface EstimateSources {
  /** Undefined for a resource that is not stored here. */
  readonly stored: (info: RequestInfo) => StoredAmount | undefined;
  /** The gate SizeBasedListCostEstimate. */
  readonly sizeBased: boolean;
  readonly watches: (info: RequestInfo) => number;
  readonly observeWatches: (count: number) => void;
}

const ONE_SEAT: WorkEstimate = { initialSeats: 1, finalSeats: 0, lingerMs: 0 };
const MAX_LIST_SEATS = 100;
const MAX_LIST_SEATS_BY_COUNT = 10;
const OBJECTS_PER_SEAT = 100;
const MAX_WRITE_SEATS = 10;
const BYTES_PER_SEAT = 100_000;
/** What a list from memory holds at once, however long it is. */
const MAX_BYTES_FROM_CACHE = 1_000_000;
const MAX_OBJECT_BYTES = 1_500_000;
const WATCHES_PER_SEAT = 10;
const EVENT_MS = 5;

// hot: every request
/**
 * `maxSeats`: the most a request of its level may use, 0 when the level does not limit it. `query` is called only for
 * lists and watches; undefined is one that will be refused.
 */
export function estimateWork(
  info: RequestInfo,
  maxSeats: number,
  query: () => ListQuery | undefined,
  sources: EstimateSources,
): WorkEstimate {
  if (!info.isResourceRequest) return ONE_SEAT;
  switch (info.verb) {
    case 'list':
    case 'watch':
      return estimateList(
        info,
        atMost(maxSeats, sources.sizeBased ? MAX_LIST_SEATS : MAX_LIST_SEATS_BY_COUNT),
        query(),
        sources,
      );
    case 'create':
    case 'update':
    case 'patch':
    case 'delete':
      return estimateWrite(info, atMost(maxSeats, MAX_WRITE_SEATS), sources);
    default:
      return ONE_SEAT;
  }
}

const atMost = (ofLevel: number, most: number): number => (ofLevel === 0 || ofLevel > most ? most : ofLevel);

function estimateList(
  info: RequestInfo,
  maxSeats: number,
  query: ListQuery | undefined,
  { stored, sizeBased }: EstimateSources,
): WorkEstimate {
  if (query === undefined) return { ...ONE_SEAT, initialSeats: maxSeats };
  const watch = info.verb === 'watch';
  if (watch && !query.sendInitialEvents) return ONE_SEAT;
  const amount = stored(info);
  if (amount === undefined) return ONE_SEAT;
  const fromCache = watch || !readsTheStore(query);
  const single = info.name !== '';
  const wanted = sizeBased
    ? bytesAtOnce(amount, query, fromCache, single) / BYTES_PER_SEAT
    : objectsLookedAt(amount, query, fromCache, single) / OBJECTS_PER_SEAT;
  const seats = Math.min(Math.max(Math.ceil(wanted), 1), maxSeats);
  return seats === 1 ? ONE_SEAT : { ...ONE_SEAT, initialSeats: seats };
}

function bytesAtOnce(
  { objects, averageBytes }: StoredAmount,
  query: ListQuery,
  fromCache: boolean,
  single: boolean,
): number {
  const bytesEach = averageBytes <= 0 && objects !== 0 ? MAX_OBJECT_BYTES : averageBytes;
  const limited = query.limit > 0 && query.limit < objects ? query.limit : objects;
  const loaded = single ? 1 : !fromCache && query.selected ? Math.max(limited, Math.floor(objects / 2)) : limited;
  return fromCache ? Math.min(loaded * bytesEach, MAX_BYTES_FROM_CACHE) : loaded * bytesEach;
}

function objectsLookedAt({ objects }: StoredAmount, query: ListQuery, fromCache: boolean, single: boolean): number {
  if (single) return 1;
  if (fromCache) return objects;
  const limited = query.limit > 0 && query.limit < objects ? query.limit : objects;
  return query.selected ? objects + limited : 2 * limited;
}

/** Older states are not in memory. An invalid resourceVersionMatch counts as a read of the store. */
function readsTheStore({ continueToken, resourceVersion, resourceVersionMatch, limit }: ListQuery): boolean {
  switch (resourceVersionMatch) {
    case 'NotOlderThan':
      return false;
    case '':
      return continueToken !== '' || (limit > 0 && resourceVersion !== '' && resourceVersion !== '0');
    default:
      return true;
  }
}

function estimateWrite(info: RequestInfo, maxSeats: number, sources: EstimateSources): WorkEstimate {
  // A token is created and nothing is stored: no watcher is notified.
  if (info.resource === 'serviceaccounts' && info.subresource === 'token') return ONE_SEAT;
  const watches = sources.watches(info);
  sources.observeWatches(watches);
  if (watches < WATCHES_PER_SEAT) return ONE_SEAT;
  const wanted = Math.ceil(watches / WATCHES_PER_SEAT);
  const finalSeats = Math.min(wanted, maxSeats);
  // Narrower and longer: the work is the same.
  return { initialSeats: 1, finalSeats, lingerMs: (wanted * EVENT_MS) / finalSeats };
}
