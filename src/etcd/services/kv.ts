// etcd's KV service.
import type { EmbeddedStore } from '../../kv/embedded/embedded.js';
import {
  COMPACTION_REQUEST,
  DELETE_RANGE_REQUEST,
  DELETE_RANGE_RESPONSE,
  type EtcdKeyValue,
  PUT_REQUEST,
  PUT_RESPONSE,
  RANGE_REQUEST,
  RANGE_RESPONSE,
  type RangeRequest,
  type RequestOp,
  TXN_REQUEST,
  TXN_RESPONSE,
  type TxnRequest,
} from '../../kv/etcd/messages/kv.js';
import { HEADER_ONLY } from '../../kv/etcd/messages/maintenance.js';
import { runCooperatively, runSync, type StepGenerator } from '../../lib/scheduling/yield.js';
import { spanOf } from '../key-range.js';
import { etcdKeyValue } from '../apply/key-value.js';
import { checkDelete, checkPut, checkRange, checkTxn } from '../apply/check.js';
import { applyPut, deleteSteps, type PastReads, txnSteps } from '../apply/operations.js';
import { answerSteps, hasMore, keyRangeOf, needsAll, type RangeAnswer } from '../apply/range.js';
import { etcdFault, faultOfStore, refusedBy, storeCall } from '../faults.js';
import type { GrpcService } from '../grpc/server.js';
import type { HeaderOf } from '../header.js';
import type { SpaceAlarm } from '../space-alarm.js';

/** So many are encoded in a few milliseconds. */
const PIECE_KEYS = 1_000;

export interface KvParts {
  readonly store: EmbeddedStore;
  readonly header: HeaderOf;
  readonly maxTxnOps: number;
  readonly maxRequestBytes: number;
  readonly alarm: SpaceAlarm;
}

export function kvService({ store, header, maxTxnOps, maxRequestBytes, alarm }: KvParts): GrpcService {
  const { mvcc } = store;

  /** The answer as it is sent. Pages are encoded as they are read: a repeated field may come in several pieces. */
  const rangePieces = async (request: RangeRequest): Promise<readonly Buffer[]> => {
    const gather = (kvs: readonly EtcdKeyValue[]): Buffer => RANGE_RESPONSE.encode({ kvs });
    if (!needsAll(request)) {
      const found = await mvcc.range(keyRangeOf(request, gather), Math.max(0, request.revision));
      const { revision, count } = found;
      const rest = RANGE_RESPONSE.encode({ header: header(revision), more: hasMore(request, count), count });
      return [...found.pages, rest];
    }
    const { kvs, revision, ...rest } = await range(request);
    const head = RANGE_RESPONSE.encode({ ...rest, header: header(revision) });
    return [head, ...(await runCooperatively(piecesSteps(kvs, gather)))];
  };

  const range = async (request: RangeRequest): Promise<FoundRange> => {
    const keyRange = keyRangeOf(request, (kvs) => kvs);
    const { pages, count, revision } = await mvcc.range(keyRange, Math.max(0, request.revision));
    const answer = await runCooperatively(answerSteps(request, { kvs: pages.flat(), count }));
    return { ...answer, revision };
  };

  // hot: every read of an object
  const oneKey = (request: RangeRequest, key: string): Buffer => {
    const { revision, version } = mvcc.get(key);
    const count = version === undefined ? 0 : 1;
    const kvs = version === undefined || request.countOnly ? [] : [etcdKeyValue(key, version)];
    return RANGE_RESPONSE.encode({ ...runSync(answerSteps(request, { kvs, count })), header: header(revision) });
  };

  /** Reads of the past do not depend on the transaction they are in, and may take long: they are made before it. */
  const pastReads = async (request: TxnRequest): Promise<PastReads> => {
    const found = new Map<RangeRequest, RangeAnswer | FailedRead>();
    for (const past of pastReadsIn(request)) {
      found.set(past, await range(past).catch((error: unknown) => new FailedRead(error)));
    }
    return (past) => {
      const answer = found.get(past);
      if (answer instanceof FailedRead) throw refusedBy(answer.error);
      return answer ?? NOTHING_READ;
    };
  };

  const failedPut = (error: unknown): never => {
    alarm.failed(error);
    return failedCall(error);
  };

  const limited = (message: Buffer): Buffer => {
    if (message.length > maxRequestBytes) throw etcdFault('requestTooLarge');
    return message;
  };

  return {
    unary: {
      async Range(message) {
        const request = RANGE_REQUEST.decode(message);
        checkRange(request);
        const { start, isOneKey } = spanOf(request);
        if (!isOneKey || request.revision > 0) return storeCall(rangePieces(request));
        try {
          return oneKey(request, start);
        } catch (error) {
          throw faultOfStore(error);
        }
      },
      Put(message) {
        const request = PUT_REQUEST.decode(limited(message));
        checkPut(request);
        alarm.check();
        return mvcc
          .transact((state) => applyPut(state, request))
          .then(({ result, revision }) => PUT_RESPONSE.encode({ ...result, header: header(revision) }), failedPut);
      },
      async DeleteRange(message) {
        const request = DELETE_RANGE_REQUEST.decode(limited(message));
        checkDelete(request);
        const { result, revision } = await storeCall(mvcc.transactInSteps((state) => deleteSteps(state, request)));
        const { deleted, previous } = result;
        const encode = (prevKvs: readonly EtcdKeyValue[]): Buffer => DELETE_RANGE_RESPONSE.encode({ prevKvs });
        const head = DELETE_RANGE_RESPONSE.encode({ deleted, header: header(revision) });
        return previous.length === 0 ? head : [head, ...(await runCooperatively(piecesSteps(previous, encode)))];
      },
      Txn(message) {
        const request = TXN_REQUEST.decode(limited(message));
        checkTxn(request, maxTxnOps);
        const adds = hasPut(request);
        if (adds) alarm.check();
        const write = (past: PastReads): Promise<Buffer> =>
          mvcc
            .transactInSteps((state) => txnSteps(state, request, past))
            .then(
              ({ result: { succeeded, responses }, revision }) =>
                TXN_RESPONSE.encode({ header: header(revision), succeeded, responses }),
              adds ? failedPut : failedCall,
            );
        return hasPastReads(request) ? pastReads(request).then(write) : write(NO_PAST_READS);
      },
      async Compact(message) {
        const { revision } = COMPACTION_REQUEST.decode(message);
        if (revision <= mvcc.compacted) throw etcdFault('compacted');
        await storeCall(store.compact(revision));
        return HEADER_ONLY.encode({ header: header(mvcc.revision) });
      },
    },
  };
}

const failedCall = (error: unknown): never => {
  throw faultOfStore(error);
};

const NOTHING_READ: RangeAnswer = { kvs: [], more: false, count: 0 };
const NO_PAST_READS: PastReads = () => NOTHING_READ;

const hasPastReads = ({ success, failure }: TxnRequest): boolean => success.some(readsPast) || failure.some(readsPast);

const readsPast = ({ requestRange, requestTxn }: RequestOp): boolean =>
  (requestRange !== undefined && requestRange.revision > 0) || (requestTxn !== undefined && hasPastReads(requestTxn));

type FoundRange = RangeAnswer & { readonly revision: number };

function* piecesSteps(
  kvs: readonly EtcdKeyValue[],
  encode: (part: readonly EtcdKeyValue[]) => Buffer,
): StepGenerator<Buffer[]> {
  const pieces: Buffer[] = [];
  for (let at = 0; at < kvs.length; at += PIECE_KEYS) {
    pieces.push(encode(kvs.slice(at, at + PIECE_KEYS)));
    yield;
  }
  return pieces;
}

const hasPut = ({ success, failure }: TxnRequest): boolean => success.some(puts) || failure.some(puts);

const puts = ({ requestPut, requestTxn }: RequestOp): boolean =>
  requestPut !== undefined || (requestTxn !== undefined && hasPut(requestTxn));

class FailedRead {
  constructor(readonly error: unknown) {}
}

function* pastReadsIn({ success, failure }: TxnRequest): Iterable<RangeRequest> {
  for (const { requestRange, requestTxn } of [...success, ...failure] satisfies RequestOp[]) {
    if (requestRange !== undefined && requestRange.revision > 0) yield requestRange;
    if (requestTxn !== undefined) yield* pastReadsIn(requestTxn);
  }
}
