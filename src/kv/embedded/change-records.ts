import { leasedName } from './leases.js';
import type { PendingChange } from './pending-state.js';
import { encodeLog, encodeNumbers, encodePlace } from './records.js';
import type { RecordWrites } from './table-writes.js';

const NO_BYTES = Buffer.alloc(0);

/** Writes the records of one change (records.ts). Where the disk is full, history does not get what the change replaced. */
// hot: every write
export function writeChange(
  writes: RecordWrites,
  { name, revision, place, isLast, next, record, previous }: PendingChange,
  { atMs, isTight }: { readonly atMs: number; readonly isTight: boolean },
): void {
  if (next === undefined) writes.remove('current', name);
  else writes.put('current', name, record);
  const type = next === undefined ? 'delete' : 'put';
  const createRevision = next?.createRevision ?? 0;
  const replaced = isTight ? undefined : previous;
  writes.put(
    'log',
    encodePlace(revision, place),
    encodeLog({ revision, place, isLast }, name, { type, atMs, createRevision, previous: replaced }),
  );
  if (previous !== undefined && previous.expiresAtMs > 0) {
    writes.remove('expiries', encodeNumbers(previous.expiresAtMs, previous.modRevision));
  }
  if (next !== undefined && next.expiresAtMs > 0) {
    writes.put('expiries', encodeNumbers(next.expiresAtMs, revision), name);
  }
  const lease = next?.lease ?? 0n;
  const before = previous?.lease ?? 0n;
  if (before !== 0n && before !== lease) writes.remove('leased', leasedName(before, name));
  if (lease !== 0n && before !== lease) writes.put('leased', leasedName(lease, name), NO_BYTES);
}
