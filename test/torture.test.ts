// A short seed of `npm run torture`: the plan is the seed's, and a slow machine takes longer for the same one.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { torture } from './torture/torture.js';

const SEED = 34;
const FAULTS_IN_ROUND = 6;

it(
  'random clients see only what can have happened while their server is killed and paused',
  { timeout: 300_000 },
  async (t) => {
    const { problems, counts } = await torture({
      store: 'embedded',
      servers: 1,
      seed: SEED,
      faults: ['kill', 'pause', 'damage'],
      faultsInRound: FAULTS_IN_ROUND,
      goesOn: (done) => done < 1,
      log: (line) => t.diagnostic(line),
    });
    assert.deepEqual(problems, []);
    assert.equal((counts['kill'] ?? 0) + (counts['pause'] ?? 0), FAULTS_IN_ROUND);
    assert.ok((counts['kill'] ?? 0) > 0);
    for (const what of ['writes answered', 'gets', 'lists', 'events', 'watches resumed'])
      assert.ok((counts[what] ?? 0) > 0, what);
    assert.equal(counts['rounds with unknown changes'], undefined);
  },
);
