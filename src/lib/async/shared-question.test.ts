import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SharedQuestion } from './shared-question.js';

interface Asked {
  readonly answer: (value: number) => void;
  readonly fail: (error: Error) => void;
}

class Turns {
  readonly #ends: (() => void)[] = [];
  readonly atEnd = (run: () => void): void => void this.#ends.push(run);

  async end(): Promise<void> {
    for (const run of this.#ends.splice(0)) run();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe('a shared question', () => {
  const yielder = new Turns();
  const question = (): { readonly shared: SharedQuestion<number>; readonly asked: Asked[] } => {
    const asked: Asked[] = [];
    const ask = (): Promise<number> => new Promise((answer, fail) => asked.push({ answer, fail }));
    return { shared: new SharedQuestion<number>(ask, yielder.atEnd), asked };
  };

  it('is one for all who ask in a turn', async () => {
    const { shared, asked } = question();
    const all = [shared.ask(), shared.ask(), shared.ask()];
    await yielder.end();
    assert.equal(asked.length, 1);
    asked[0]?.answer(7);
    assert.deepEqual(await Promise.all(all), [7, 7, 7]);
  });

  it('is another for who asks when it has left, even if it has no answer yet', async () => {
    const { shared, asked } = question();
    const first = shared.ask();
    await yielder.end();
    const second = shared.ask();
    await yielder.end();
    asked[1]?.answer(2);
    assert.equal(await second, 2);
    asked[0]?.answer(1);
    assert.equal(await first, 1);
  });

  it('is the next one for all who come while many are under way', async () => {
    const { shared, asked } = question();
    for (let i = 0; i < 4; i++) {
      void shared.ask();
      await yielder.end();
    }
    const later = [shared.ask(), shared.ask()];
    await yielder.end();
    later.push(shared.ask());
    assert.equal(asked.length, 4);
    asked[0]?.answer(1);
    await yielder.end();
    assert.equal(asked.length, 5);
    asked[4]?.answer(5);
    assert.deepEqual(await Promise.all(later), [5, 5, 5]);
  });

  it('is asked again after one that failed, for those who did not ask it', async () => {
    const { shared, asked } = question();
    const first = shared.ask();
    await yielder.end();
    const second = shared.ask();
    asked[0]?.fail(new Error('unavailable'));
    await assert.rejects(first, /unavailable/);
    asked[1]?.answer(2);
    assert.equal(await second, 2);
  });
});
