// Random clients of several worker processes: what is written through one is read and watched through the others.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { FaultName } from './torture/faults.js';
import { torture } from './torture/torture.js';

const SEED = 39;
/** One more end within a minute, and the server takes them for its own fault. */
const MAX_FAULTS = 4;

interface Round {
  readonly title: string;
  readonly workers: number;
  readonly fault: FaultName;
}

const ROUNDS: readonly Round[] = [
  { title: 'workers and the owner of the store are killed', workers: 2, fault: 'kill-worker' },
  { title: 'workers and the owner of the store hang and go on', workers: 3, fault: 'pause-worker' },
];

for (const { title, workers, fault } of ROUNDS) {
  it(
    `clients of ${workers} worker processes see only what can have happened while ${title}`,
    { timeout: 300_000 },
    async (t) => {
      const { problems, counts } = await torture({
        store: 'embedded',
        servers: 1,
        workers,
        seed: SEED,
        faults: [fault],
        faultsInRound: MAX_FAULTS,
        goesOn: (done) => done < 1,
        log: (line) => t.diagnostic(line),
      });
      assert.deepEqual(problems, []);
      assert.equal(counts[fault], MAX_FAULTS);
      for (const what of ['writes answered', 'gets', 'lists', 'events', 'watches resumed'])
        assert.ok((counts[what] ?? 0) > 0, what);
    },
  );
}
