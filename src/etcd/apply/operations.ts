// What etcd's operations do to the state: each reads what those before it in its transaction have changed.
import { isTooLong } from '../../kv/embedded/past.js';
import type { PendingState } from '../../kv/embedded/pending-state.js';
import type { Version } from '../../kv/embedded/records.js';
import type {
  DELETE_RANGE_RESPONSE,
  DeleteRangeRequest,
  PUT_RESPONSE,
  PutRequest,
  RangeRequest,
  RequestOp,
  RESPONSE_OP,
  TXN_RESPONSE,
  TxnRequest,
} from '../../kv/etcd/messages/kv.js';
import type { Encodable } from '../../lib/protobuf/message.js';
import { refusal } from '../faults.js';
import { spanOf } from '../key-range.js';
import { holds } from './compare.js';
import { etcdKeyValue } from './key-value.js';
import { rangeAnswer, type RangeAnswer } from './range.js';

type PutAnswer = Encodable<typeof PUT_RESPONSE>;
type DeleteAnswer = Encodable<typeof DELETE_RANGE_RESPONSE>;
type OperationAnswer = Encodable<typeof RESPONSE_OP>;
type TxnAnswer = Encodable<typeof TXN_RESPONSE>;

/** Answers the reads of past revisions that a transaction has, which do not depend on it; throws as they failed. */
export type PastReads = (request: RangeRequest) => RangeAnswer;

export function applyTxn(state: PendingState, request: TxnRequest, past: PastReads): TxnAnswer {
  const succeeded = request.compare.every((compare) => holds(state, compare));
  const operations = succeeded ? request.success : request.failure;
  return { succeeded, responses: operations.map((operation) => applyOperation(state, operation, past)) };
}

function applyOperation(state: PendingState, operation: RequestOp, past: PastReads): OperationAnswer {
  const { requestRange, requestPut, requestDeleteRange, requestTxn } = operation;
  const header = (): { revision: number } => ({ revision: state.revision });
  if (requestRange !== undefined) {
    const answer = requestRange.revision > 0 ? past(requestRange) : applyRange(state, requestRange);
    return { responseRange: { ...answer, header: header() } };
  }
  if (requestPut !== undefined) return { responsePut: { ...applyPut(state, requestPut), header: header() } };
  if (requestDeleteRange !== undefined) {
    return { responseDeleteRange: { ...applyDelete(state, requestDeleteRange), header: header() } };
  }
  if (requestTxn !== undefined) return { responseTxn: { ...applyTxn(state, requestTxn, past), header: header() } };
  return {};
}

function applyRange(state: PendingState, request: RangeRequest): RangeAnswer {
  const { start, end, isOneKey } = spanOf(request);
  const kvs = isOneKey ? oneKey(start, state.get(start)) : state.range(start, end);
  const found = request.countOnly ? [] : kvs.map(([key, version]) => etcdKeyValue(key, version));
  return rangeAnswer(request, { kvs: found, count: kvs.length });
}

const oneKey = (key: string, version: Version | undefined): readonly (readonly [string, Version])[] =>
  version === undefined ? [] : [[key, version]];

// hot: every write
export function applyPut(state: PendingState, request: PutRequest): PutAnswer {
  const { start: key } = spanOf({ key: request.key, rangeEnd: NO_BYTES });
  if (isTooLong(key)) throw refusal('requestTooLarge');
  const { prevKv, ignoreValue, ignoreLease } = request;
  const current = prevKv || ignoreValue || ignoreLease ? state.get(key) : undefined;
  if ((ignoreValue || ignoreLease) && current === undefined) throw refusal('keyNotFound');
  const lease = ignoreLease && current !== undefined ? current.lease : request.lease;
  if (lease !== 0n && !state.hasLease(lease)) throw refusal('leaseNotFound');
  const value = ignoreValue && current !== undefined ? current.value : request.value;
  state.put(key, value, { expiresAtMs: 0, lease });
  return prevKv && current !== undefined ? { prevKv: etcdKeyValue(key, current) } : {};
}

const NO_BYTES = Buffer.alloc(0);

export function applyDelete(state: PendingState, request: DeleteRangeRequest): DeleteAnswer {
  const { start, end, isOneKey } = spanOf(request);
  const keys = isOneKey ? [start] : state.range(start, end).map(([key]) => key);
  let deleted = 0;
  const previous: [string, Version][] = [];
  for (const key of keys) {
    if (state.stored(key) === undefined) continue;
    deleted++;
    const version = state.delete(key);
    if (request.prevKv && version !== undefined) previous.push([key, version]);
  }
  return { deleted, prevKvs: previous.map(([key, version]) => etcdKeyValue(key, version)) };
}
