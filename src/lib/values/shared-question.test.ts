import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SharedQuestion } from './shared-question.js';

interface Asked {
  readonly answer: (value: number) => void;
  readonly fail: (error: Error) => void;
}

function question(): { readonly shared: SharedQuestion<number>; readonly asked: Asked[] } {
  const asked: Asked[] = [];
  const shared = new SharedQuestion<number>(() => new Promise((answer, fail) => asked.push({ answer, fail })));
  return { shared, asked };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a shared question', () => {
  it('is asked at once when none is under way', async () => {
    const { shared, asked } = question();
    const first = shared.ask();
    asked[0]?.answer(1);
    assert.equal(await first, 1);
    const second = shared.ask();
    asked[1]?.answer(2);
    assert.equal(await second, 2);
  });

  it('is the next one for all who come while one is under way', async () => {
    const { shared, asked } = question();
    const first = shared.ask();
    const later = [shared.ask(), shared.ask(), shared.ask()];
    assert.equal(asked.length, 1);
    asked[0]?.answer(1);
    await settled();
    assert.equal(asked.length, 2);
    const third = shared.ask();
    asked[1]?.answer(2);
    await settled();
    assert.equal(asked.length, 3);
    asked[2]?.answer(3);
    assert.deepEqual(await Promise.all([first, ...later, third]), [1, 2, 2, 2, 3]);
  });

  it('is asked again after one that failed, for those who did not ask it', async () => {
    const { shared, asked } = question();
    const first = shared.ask();
    const second = shared.ask();
    asked[0]?.fail(new Error('unavailable'));
    await assert.rejects(first, /unavailable/);
    await settled();
    asked[1]?.answer(2);
    assert.equal(await second, 2);
  });
});
