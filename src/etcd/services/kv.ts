// etcd's KV service.
import type { EmbeddedStore } from '../../kv/embedded/embedded.js';
import {
  COMPACTION_REQUEST,
  DELETE_RANGE_REQUEST,
  DELETE_RANGE_RESPONSE,
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
import { spanOf } from '../key-range.js';
import { etcdKeyValue } from '../apply/key-value.js';
import { checkDelete, checkPut, checkRange, checkTxn } from '../apply/check.js';
import { applyDelete, applyPut, applyTxn, type PastReads } from '../apply/operations.js';
import { keyRangeOf, rangeAnswer, type RangeAnswer } from '../apply/range.js';
import { etcdFault, faultOfStore, refusedBy, storeCall } from '../faults.js';
import type { GrpcService } from '../grpc/server.js';
import type { HeaderOf } from '../header.js';
import type { Quota } from '../quota.js';

export interface KvParts {
  readonly store: EmbeddedStore;
  readonly header: HeaderOf;
  readonly maxTxnOps: number;
  readonly maxRequestBytes: number;
  readonly quota: Quota;
}

export function kvService({ store, header, maxTxnOps, maxRequestBytes, quota }: KvParts): GrpcService {
  const { mvcc } = store;

  const range = async (request: RangeRequest): Promise<RangeAnswer & { readonly revision: number }> => {
    const { start, isOneKey } = spanOf(request);
    if (isOneKey && request.revision <= 0) return oneKey(request, start);
    const found = await storeCall(mvcc.range(keyRangeOf(request), Math.max(0, request.revision)));
    return { ...rangeAnswer(request, found), revision: found.revision };
  };

  // hot: every read of an object
  const oneKey = (request: RangeRequest, key: string): RangeAnswer & { readonly revision: number } => {
    try {
      const { revision, version } = mvcc.get(key);
      const count = version === undefined ? 0 : 1;
      const kvs = version === undefined || request.countOnly ? [] : [etcdKeyValue(key, version)];
      return { ...rangeAnswer(request, { kvs, count }), revision };
    } catch (error) {
      throw faultOfStore(error);
    }
  };

  /** Reads of the past do not depend on the transaction they are in, and may take long: they are made before it. */
  const pastReads = async (request: TxnRequest): Promise<PastReads> => {
    const found = new Map<RangeRequest, RangeAnswer | FailedRead>();
    for (const past of pastReadsIn(request)) {
      found.set(past, await range(past).catch((error: unknown) => new FailedRead(error)));
    }
    return (past) => {
      const answer = found.get(past) ?? {};
      if (answer instanceof FailedRead) throw refusedBy(answer.error);
      return answer;
    };
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
        const { revision, ...answer } = await range(request);
        return RANGE_RESPONSE.encode({ ...answer, header: header(revision) });
      },
      async Put(message) {
        const request = PUT_REQUEST.decode(limited(message));
        checkPut(request);
        quota.take(message.length);
        const { result, revision } = await storeCall(mvcc.transact((state) => applyPut(state, request)));
        return PUT_RESPONSE.encode({ ...result, header: header(revision) });
      },
      async DeleteRange(message) {
        const request = DELETE_RANGE_REQUEST.decode(limited(message));
        checkDelete(request);
        const { result, revision } = await storeCall(mvcc.transact((state) => applyDelete(state, request)));
        return DELETE_RANGE_RESPONSE.encode({ ...result, header: header(revision) });
      },
      async Txn(message) {
        const request = TXN_REQUEST.decode(limited(message));
        checkTxn(request, maxTxnOps);
        if (hasPut(request)) quota.take(message.length);
        const past = await pastReads(request);
        const { result, revision } = await storeCall(mvcc.transact((state) => applyTxn(state, request, past)));
        return TXN_RESPONSE.encode({ ...result, header: header(revision) });
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

const hasPut = ({ success, failure }: TxnRequest): boolean =>
  [success, failure].some((operations) =>
    operations.some(
      ({ requestPut, requestTxn }) => requestPut !== undefined || (requestTxn !== undefined && hasPut(requestTxn)),
    ),
  );

class FailedRead {
  constructor(readonly error: unknown) {}
}

function* pastReadsIn({ success, failure }: TxnRequest): Iterable<RangeRequest> {
  for (const { requestRange, requestTxn } of [...success, ...failure] satisfies RequestOp[]) {
    if (requestRange !== undefined && requestRange.revision > 0) yield requestRange;
    if (requestTxn !== undefined) yield* pastReadsIn(requestTxn);
  }
}
