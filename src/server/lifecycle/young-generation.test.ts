// runs-on: every-node: how V8 obeys
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { ManualClock } from '../../lib/testing/manual-clock.js';
import { limitYoungGeneration } from './young-generation.js';

const MIB = 1024 ** 2;

describe('the young generation', () => {
  it('grows until it is large enough, and again after V8 has made it small', async () => {
    const clock = new ManualClock();
    const stopping = new AbortController();
    const set: number[] = [];
    let bytes = 2 * MIB;
    let listener: (() => void) | undefined;
    limitYoungGeneration({
      clock,
      stopping: stopping.signal,
      youngBytes: () => bytes,
      setYoungGrowth: (factor) => void set.push(factor),
      onCollections(given) {
        listener = given;
        return () => (listener = undefined);
      },
    });
    bytes = 4 * MIB;
    listener?.();
    assert.deepEqual(set.splice(0), [2]);
    bytes = 8 * MIB;
    listener?.();
    assert.deepEqual(set.splice(0), [1]);
    assert.equal(listener, undefined);
    await clock.move(5_000);
    assert.deepEqual(set.splice(0), [1]);
    bytes = 2 * MIB;
    await clock.move(5_000);
    assert.deepEqual(set.splice(0), [2]);
    assert.notEqual(listener, undefined);
    stopping.abort();
    await clock.move(5_000);
    assert.equal(listener, undefined);
    assert.deepEqual(set, []);
  });

  it('is as large as V8 was asked to let it become', () => {
    // Some of what is made is in use for a while, so that V8 would grow it to its largest.
    const program = `
      const v8 = require('node:v8');
      const size = () => v8.getHeapSpaceStatistics().find((space) => space.space_name === 'new_space').space_size;
      const work = () => {
        let kept = [];
        for (let i = 0; i < 3e6; i++) {
          kept.push({ i });
          if (kept.length > 2e5) kept = [];
        }
      };
      v8.setFlagsFromString('--semi-space-growth-factor=1');
      work();
      const small = size();
      v8.setFlagsFromString('--semi-space-growth-factor=2');
      work();
      console.log(JSON.stringify([small, size()]));`;
    const [small, large] = JSON.parse(
      execFileSync(process.execPath, ['-e', program], { encoding: 'utf8' }),
    ) as number[];
    assert.ok(
      small !== undefined && large !== undefined && small <= 4 * MIB && large >= 16 * MIB,
      `${small}, ${large}`,
    );
  });
});
