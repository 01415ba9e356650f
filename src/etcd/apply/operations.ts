// What etcd's operations do to the state: each reads what those before it in its transaction have changed.
import { isTooLong } from '../../kv/embedded/past.js';
import type { PendingState } from '../../kv/embedded/pending-state.js';
import type { Version } from '../../kv/embedded/records.js';
import type {
  DeleteRangeRequest,
  EtcdKeyValue,
  PUT_RESPONSE,
  PutRequest,
  RangeRequest,
  RequestOp,
  RESPONSE_OP,
  TXN_RESPONSE,
  TxnRequest,
} from '../../kv/etcd/messages/kv.js';
import type { Encodable } from '../../lib/protobuf/message.js';
import type { StepGenerator } from '../../lib/scheduling/yield.js';
import { refusal } from '../faults.js';
import { spanOf } from '../key-range.js';
import { holdsSteps } from './compare.js';
import { etcdKeyValue } from './key-value.js';
import { answerSteps, type RangeAnswer } from './range.js';

type PutAnswer = Encodable<typeof PUT_RESPONSE>;
type OperationAnswer = Encodable<typeof RESPONSE_OP>;
type TxnAnswer = Encodable<typeof TXN_RESPONSE>;

/** So many take a few milliseconds. */
const DELETES_PER_STEP = 500;

/** Answers the reads of past revisions that a transaction has, which do not depend on it; throws as they failed. */
export type PastReads = (request: RangeRequest) => RangeAnswer;

export function* txnSteps(state: PendingState, request: TxnRequest, past: PastReads): StepGenerator<TxnAnswer> {
  let succeeded = true;
  for (const compare of request.compare) succeeded &&= yield* holdsSteps(state, compare);
  const responses: OperationAnswer[] = [];
  for (const operation of succeeded ? request.success : request.failure) {
    responses.push(yield* operationSteps(state, operation, past));
  }
  return { succeeded, responses };
}

function* operationSteps(state: PendingState, operation: RequestOp, past: PastReads): StepGenerator<OperationAnswer> {
  const { requestRange, requestPut, requestDeleteRange, requestTxn } = operation;
  const header = (): { revision: number } => ({ revision: state.revision });
  if (requestRange !== undefined) {
    const answer = requestRange.revision > 0 ? past(requestRange) : yield* currentSteps(state, requestRange);
    return { responseRange: { ...answer, header: header() } };
  }
  if (requestPut !== undefined) return { responsePut: { ...applyPut(state, requestPut), header: header() } };
  if (requestDeleteRange !== undefined) {
    const { deleted, previous } = yield* deleteSteps(state, requestDeleteRange);
    return { responseDeleteRange: { deleted, prevKvs: previous, header: header() } };
  }
  if (requestTxn !== undefined) {
    return { responseTxn: { ...(yield* txnSteps(state, requestTxn, past)), header: header() } };
  }
  return {};
}

function* currentSteps(state: PendingState, request: RangeRequest): StepGenerator<RangeAnswer> {
  const { start, end, isOneKey } = spanOf(request);
  const kvs = isOneKey ? oneKey(start, state.get(start)) : yield* state.rangeSteps(start, end);
  const found = request.countOnly ? [] : kvs.map(([key, version]) => etcdKeyValue(key, version));
  return yield* answerSteps(request, { kvs: found, count: kvs.length });
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

export interface Deleted {
  readonly deleted: number;
  /** What was there, where the request wants it. */
  readonly previous: readonly EtcdKeyValue[];
}

export function* deleteSteps(state: PendingState, request: DeleteRangeRequest): StepGenerator<Deleted> {
  const { start, end, isOneKey } = spanOf(request);
  const keys = isOneKey ? oneKey(start, state.stored(start)) : yield* state.rangeSteps(start, end);
  let deleted = 0;
  const previous: EtcdKeyValue[] = [];
  for (const [key] of keys) {
    const version = state.delete(key);
    if (request.prevKv && version !== undefined) previous.push(etcdKeyValue(key, version));
    if (++deleted % DELETES_PER_STEP === 0) yield;
  }
  return { deleted, previous };
}
