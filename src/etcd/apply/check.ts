// What etcd refuses before it does anything.
import { byteKeyIn } from '../../kv/embedded/byte-key.js';
import type { DeleteRangeRequest, PutRequest, RangeRequest, RequestOp, TxnRequest } from '../../kv/etcd/messages/kv.js';
import { etcdFault } from '../faults.js';
import { spanOf } from '../key-range.js';
import { KeyIntervals } from './key-intervals.js';
import { isKnownSort } from './range.js';

export function checkRange(request: RangeRequest): void {
  checkKey(request.key);
  if (!isKnownSort(request)) throw etcdFault('invalidSortOption');
}

export function checkPut({ key, value, lease, ignoreValue, ignoreLease }: PutRequest): void {
  checkKey(key);
  if (ignoreValue && value.length > 0) throw etcdFault('valueProvided');
  if (ignoreLease && lease !== 0n) throw etcdFault('leaseProvided');
}

export const checkDelete = ({ key }: DeleteRangeRequest): void => checkKey(key);

function checkKey(key: Buffer): void {
  if (key.length === 0) throw etcdFault('emptyKey');
}

export function checkTxn(request: TxnRequest, maxOperations: number): void {
  checkOperations(request, maxOperations);
  for (const branch of [request.success, request.failure]) if (!isSingle(branch)) touchedBy(branch);
}

/** At most one operation, and none within it: no key is touched twice. */
const isSingle = (operations: readonly RequestOp[]): boolean =>
  operations.length < 2 && operations[0]?.requestTxn === undefined;

function checkOperations({ compare, success, failure }: TxnRequest, maxOperations: number): void {
  const count = Math.max(compare.length, success.length, failure.length);
  if (count > maxOperations) throw etcdFault('tooManyOps');
  for (const { key } of compare) checkKey(key);
  for (const operation of [...success, ...failure]) checkOperation(operation, maxOperations - count);
}

function checkOperation(operation: RequestOp, maxOperations: number): void {
  const { requestRange, requestPut, requestDeleteRange, requestTxn } = operation;
  if (requestRange !== undefined) checkRange(requestRange);
  else if (requestPut !== undefined) checkPut(requestPut);
  else if (requestDeleteRange !== undefined) checkDelete(requestDeleteRange);
  else if (requestTxn !== undefined) checkOperations(requestTxn, maxOperations);
  else throw etcdFault('keyNotFound');
}

interface Touched {
  readonly puts: Set<string>;
  readonly deletes: KeyIntervals;
}

/**
 * A key may be written once in a transaction, and not be both written and deleted. Of the two branches of a transaction within
 * only one happens.
 */
function touchedBy(operations: readonly RequestOp[]): Touched {
  const puts = new Set<string>();
  const deletes = new KeyIntervals();
  for (const { requestDeleteRange } of operations) {
    if (requestDeleteRange !== undefined) deletes.add(spanOf(requestDeleteRange));
  }
  const add = (key: string, isOtherBranch = false): void => {
    if ((puts.has(key) && !isOtherBranch) || deletes.has(key)) throw etcdFault('duplicateKey');
    puts.add(key);
  };
  for (const { requestTxn } of operations) {
    if (requestTxn === undefined) continue;
    const then = touchedBy(requestTxn.success);
    const otherwise = touchedBy(requestTxn.failure);
    for (const key of then.puts) add(key);
    for (const key of otherwise.puts) add(key, then.puts.has(key));
    for (const branch of [then, otherwise]) for (const interval of branch.deletes) deletes.add(interval);
  }
  for (const { requestPut } of operations) if (requestPut !== undefined) add(byteKeyIn(requestPut.key));
  return { puts, deletes };
}
