import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { withTimeout } from './with-timeout.js';

function testClock() {
  const pending = new Set<() => void>();
  return {
    pending,
    after(_ms: number, callback: () => void) {
      pending.add(callback);
      return () => void pending.delete(callback);
    },
  };
}

describe('withTimeout', () => {
  const never = new Promise<string>(() => undefined);

  it('answers what the work does, and leaves no timer behind', async () => {
    const clock = testClock();
    const onTimeout = () => assert.fail('the work was in time');
    assert.equal(await withTimeout(Promise.resolve('done'), { ms: 1, clock, onTimeout }), 'done');
    await assert.rejects(withTimeout(Promise.reject(new Error('broken')), { ms: 1, clock, onTimeout }), /broken/);
    assert.equal(clock.pending.size, 0);
  });

  it('answers or throws what is wanted when the time is over', async () => {
    const clock = testClock();
    const answered = withTimeout(never, { ms: 1, clock, onTimeout: () => 'late' });
    const failed = withTimeout(never, {
      ms: 1,
      clock,
      onTimeout: () => {
        throw new Error('too late');
      },
    });
    for (const callback of clock.pending) callback();
    assert.equal(await answered, 'late');
    await assert.rejects(failed, /too late/);
  });
});
