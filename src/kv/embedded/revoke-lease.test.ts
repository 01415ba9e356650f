import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { PendingState } from './pending-state.js';
import { KEYS_PER_STEP, revokeLease } from './revoke-lease.js';

it('deletes the keys of a lease in steps, and leaves those that were written since without it', () => {
  const written = Array.from({ length: 3 * KEYS_PER_STEP }, (_, i) => `/k/${i}`);
  const leaseOf = (key: string): bigint => (key.endsWith('7') ? 0n : 5n);
  const deleted: string[] = [];
  const grants = new Map<bigint, number | undefined>();
  const state = {
    grants,
    hasLease: (id: bigint) => id === 5n,
    writtenWith: () => written,
    stored: (key: string) => ({ lease: leaseOf(key) }),
    delete: (key: string) => void deleted.push(key),
  } as unknown as PendingState;
  const steps = revokeLease(5n)(state);
  for (let step = 1; step <= 3; step++) {
    assert.equal(steps.next().done, false);
    const visited = written.slice(0, step * KEYS_PER_STEP);
    assert.deepEqual(
      deleted,
      visited.filter((key) => leaseOf(key) === 5n),
    );
  }
  assert.deepEqual([...grants], []);
  assert.equal(steps.next().done, true);
  assert.deepEqual([...grants], [[5n, undefined]]);
});
