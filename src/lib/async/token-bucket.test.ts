import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TokenBucket } from './token-bucket.js';

describe('TokenBucket', () => {
  it('has a burst, and then a token every so often', () => {
    const bucket = new TokenBucket({ burst: 2, everyMs: 100 }, 0);
    assert.deepEqual(
      [0, 0, 99, 100, 100].map((ms) => bucket.tryTake(ms)),
      [true, true, false, true, false],
    );
  });

  it('saves up no more than the burst, and loses nothing to a clock that is set back', () => {
    const bucket = new TokenBucket({ burst: 2, everyMs: 100 }, 1000);
    assert.deepEqual(
      [9000, 9000, 9000, 0, 100].map((ms) => bucket.tryTake(ms)),
      [true, true, false, false, true],
    );
  });

  it('tells how long to wait for tokens that are taken before they are due', () => {
    const bucket = new TokenBucket({ burst: 1, tokens: 10, everyMs: 1000 }, 0);
    assert.deepEqual(
      [0, 0, 0, 200].map((ms) => bucket.take(ms)),
      [0, 100, 200, 100],
    );
  });
});
