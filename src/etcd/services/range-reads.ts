// What the KV service reads: ranges as they are sent, and the reads of a transaction that are of the past.
import type { EmbeddedStore } from '../../kv/embedded/embedded.js';
import {
  type EtcdKeyValue,
  RANGE_RESPONSE,
  type RangeRequest,
  type RequestOp,
  type TxnRequest,
} from '../../kv/etcd/messages/kv.js';
import type { MaybePromise } from '../../lib/async/maybe-promise.js';
import { runCooperatively, runSync } from '../../lib/scheduling/yield.js';
import { etcdKeyValue } from '../apply/key-value.js';
import type { PastReads } from '../apply/operations.js';
import { answerSteps, hasMore, keyRangeOf, needsAll, type RangeAnswer } from '../apply/range.js';
import { refusedBy } from '../faults.js';
import type { HeaderOf } from '../header.js';
import { piecesSteps } from './pieces.js';

type FoundRange = RangeAnswer & { readonly revision: number };

const NOTHING_READ: RangeAnswer = { kvs: [], more: false, count: 0 };
export const NO_PAST_READS: PastReads = () => NOTHING_READ;

export class RangeReads {
  readonly #mvcc: EmbeddedStore['mvcc'];

  constructor(
    store: EmbeddedStore,
    private readonly header: HeaderOf,
  ) {
    this.#mvcc = store.mvcc;
  }

  /** The answer as it is sent. Pages are encoded as they are read: a repeated field may come in several pieces. */
  async pieces(request: RangeRequest): Promise<readonly Buffer[]> {
    const gather = (kvs: readonly EtcdKeyValue[]): Buffer => RANGE_RESPONSE.encode({ kvs });
    if (!needsAll(request)) {
      const found = await this.#mvcc.range(keyRangeOf(request, gather), Math.max(0, request.revision));
      const { revision, count } = found;
      const rest = RANGE_RESPONSE.encode({ header: this.header(revision), more: hasMore(request, count), count });
      return [...found.pages, rest];
    }
    const { kvs, revision, ...rest } = await this.#range(request);
    const head = RANGE_RESPONSE.encode({ ...rest, header: this.header(revision) });
    return [head, ...(await runCooperatively(piecesSteps(kvs, gather)))];
  }

  // hot: every read of an object
  oneKey(request: RangeRequest, key: string): MaybePromise<Buffer> {
    const { revision, version } = this.#mvcc.get(key);
    const count = version === undefined ? 0 : 1;
    const kvs = version === undefined || request.countOnly ? [] : [etcdKeyValue(key, version)];
    const found = runSync(answerSteps(request, { kvs, count }));
    const answer = RANGE_RESPONSE.encode({ ...found, header: this.header(revision) });
    // Worker processes of the server may not know of it yet.
    return this.#mvcc.released(revision)?.then(() => answer) ?? answer;
  }

  /** Reads of the past do not depend on the transaction they are in, and may take long: they are made before it. */
  async past(request: TxnRequest): Promise<PastReads> {
    const found = new Map<RangeRequest, RangeAnswer | FailedRead>();
    for (const past of pastReadsIn(request)) {
      found.set(past, await this.#range(past).catch((error: unknown) => new FailedRead(error)));
    }
    return (past) => {
      const answer = found.get(past);
      if (answer instanceof FailedRead) throw refusedBy(answer.error);
      return answer ?? NOTHING_READ;
    };
  }

  async #range(request: RangeRequest): Promise<FoundRange> {
    const keyRange = keyRangeOf(request, (kvs) => kvs);
    const { pages, count, revision } = await this.#mvcc.range(keyRange, Math.max(0, request.revision));
    const answer = await runCooperatively(answerSteps(request, { kvs: pages.flat(), count }));
    return { ...answer, revision };
  }
}

class FailedRead {
  constructor(readonly error: unknown) {}
}

export const hasPastReads = ({ success, failure }: TxnRequest): boolean =>
  success.some(readsPast) || failure.some(readsPast);

const readsPast = ({ requestRange, requestTxn }: RequestOp): boolean =>
  (requestRange !== undefined && requestRange.revision > 0) || (requestTxn !== undefined && hasPastReads(requestTxn));

function* pastReadsIn({ success, failure }: TxnRequest): Iterable<RangeRequest> {
  for (const { requestRange, requestTxn } of [...success, ...failure] satisfies RequestOp[]) {
    if (requestRange !== undefined && requestRange.revision > 0) yield requestRange;
    if (requestTxn !== undefined) yield* pastReadsIn(requestTxn);
  }
}
