import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Backoff } from './backoff.js';

describe('Backoff', () => {
  it('doubles up to a limit', () => {
    const backoff = new Backoff({ firstMs: 50, maxMs: 300 });
    assert.deepEqual(
      [1, 2, 3, 4, 5].map(() => backoff.next()),
      [50, 100, 200, 300, 300],
    );
  });

  it('keeps to the limit from the first pause on', () => {
    assert.equal(new Backoff({ firstMs: 50, maxMs: 20 }).next(), 20);
  });

  it('adds jitter to a pause and not to those after it', () => {
    const jitter = { part: 0.2, random: () => 0.5 };
    const backoff = new Backoff({ firstMs: 100, factor: 1.5, jitter });
    assert.deepEqual(
      [1, 2].map(() => Math.round(backoff.next() * 1e6) / 1e6),
      [110, 165],
    );
  });
});
