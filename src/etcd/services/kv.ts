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
  type RequestOp,
  TXN_REQUEST,
  TXN_RESPONSE,
  type TxnRequest,
} from '../../kv/etcd/messages/kv.js';
import { HEADER_ONLY } from '../../kv/etcd/messages/maintenance.js';
import { runCooperatively } from '../../lib/scheduling/yield.js';
import { spanOf } from '../key-range.js';
import { checkDelete, checkPut, checkRange, checkTxn } from '../apply/check.js';
import { applyPut, deleteSteps, type PastReads, txnSteps } from '../apply/operations.js';
import { etcdFault, faultOfStore, storeCall } from '../faults.js';
import type { GrpcService } from '../grpc/server.js';
import type { HeaderOf } from '../header.js';
import type { SpaceAlarm } from '../space-alarm.js';
import { piecesSteps } from './pieces.js';
import { hasPastReads, NO_PAST_READS, RangeReads } from './range-reads.js';

export interface KvParts {
  readonly store: EmbeddedStore;
  readonly header: HeaderOf;
  readonly maxTxnOps: number;
  readonly maxRequestBytes: number;
  readonly alarm: SpaceAlarm;
}

export function kvService({ store, header, maxTxnOps, maxRequestBytes, alarm }: KvParts): GrpcService {
  const { mvcc } = store;

  const reads = new RangeReads(store, header);

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
        if (!isOneKey || request.revision > 0) return storeCall(reads.pieces(request));
        try {
          return await reads.oneKey(request, start);
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
        return hasPastReads(request) ? reads.past(request).then(write) : write(NO_PAST_READS);
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

const hasPut = ({ success, failure }: TxnRequest): boolean => success.some(puts) || failure.some(puts);

const puts = ({ requestPut, requestTxn }: RequestOp): boolean =>
  requestPut !== undefined || (requestTxn !== undefined && hasPut(requestTxn));
