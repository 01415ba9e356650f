// Random clients of several worker processes: what is written through one is read and watched through the others.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { torture } from './torture/torture.js';

const SEED = 39;
/** One more within a minute, and the server takes them for its own fault. */
const FAULTS_IN_ROUND = 4;

it(
  'clients of two worker processes see only what can have happened while workers and the owner of the store are killed',
  { timeout: 300_000 },
  async (t) => {
    const { problems, counts } = await torture({
      store: 'embedded',
      servers: 1,
      workers: 2,
      seed: SEED,
      faults: ['kill-worker'],
      faultsInRound: FAULTS_IN_ROUND,
      goesOn: (done) => done < 1,
      log: (line) => t.diagnostic(line),
    });
    assert.deepEqual(problems, []);
    assert.equal(counts['kill-worker'], FAULTS_IN_ROUND);
    for (const what of ['writes answered', 'gets', 'lists', 'events', 'watches resumed'])
      assert.ok((counts[what] ?? 0) > 0, what);
  },
);
