// The conditions of a transaction.
import type { StepGenerator } from '../../lib/scheduling/yield.js';
import type { PendingState } from '../../kv/embedded/pending-state.js';
import type { Version } from '../../kv/embedded/records.js';
import { COMPARE_RESULT, COMPARE_TARGET, type Compare } from '../../kv/etcd/messages/kv.js';
import { spanOf } from '../key-range.js';

/** Of a range every key must agree. A key that is not there has revision, version and lease 0, and no value agrees with it. */
export function* holdsSteps(state: PendingState, compare: Compare): StepGenerator<boolean> {
  const { start, end, isOneKey } = spanOf(compare);
  if (isOneKey) {
    const version = state.get(start);
    return version === undefined ? holdsForNothing(compare) : agrees(compare, version);
  }
  const found = yield* state.rangeSteps(start, end);
  return found.length === 0 ? holdsForNothing(compare) : found.every(([, version]) => agrees(compare, version));
}

const holdsForNothing = (compare: Compare): boolean =>
  compare.target !== COMPARE_TARGET.value && agrees(compare, NOTHING);

const NOTHING: Version = {
  createRevision: 0,
  modRevision: 0,
  version: 0,
  expiresAtMs: 0,
  lease: 0n,
  value: Buffer.alloc(0),
};

function agrees(compare: Compare, version: Version): boolean {
  const order = orderOf(compare, version);
  switch (compare.result) {
    case COMPARE_RESULT.equal:
      return order === 0;
    case COMPARE_RESULT.notEqual:
      return order !== 0;
    case COMPARE_RESULT.greater:
      return order > 0;
    case COMPARE_RESULT.less:
      return order < 0;
    default:
      return true;
  }
}

/** Of what is there to what the request has. */
function orderOf(compare: Compare, { version, createRevision, modRevision, value, lease }: Version): number {
  switch (compare.target) {
    case COMPARE_TARGET.version:
      return version - compare.version;
    case COMPARE_TARGET.create:
      return createRevision - compare.createRevision;
    case COMPARE_TARGET.mod:
      return modRevision - compare.modRevision;
    case COMPARE_TARGET.value:
      return value.compare(compare.value);
    case COMPARE_TARGET.lease:
      return lease === compare.lease ? 0 : lease < compare.lease ? -1 : 1;
    default:
      return 0;
  }
}
