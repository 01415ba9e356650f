// workers: one, it meters the process that it starts
// One thread serves everybody: no request may hold it for long in one event loop task. All attacks are tried in a small
// size; those of large-writes.test.ts in a large one. By hand, with all bodies as large as they may be, all requests,
// and a table of the longest tasks at the end:
//
//   BINNACLE_STALL_BYTES=2700000 BINNACLE_STALL_MS=100000 node tools/test.mjs test/attack/event-loop-stalls.test.ts
//
// BINNACLE_STALL_ONLY names some of the attacks, by a part of their names.
import { test } from 'node:test';
import { allShort, BYTES } from './judge-tasks.js';
import { LARGE_FORMS } from './large-forms.js';
import { ATTACKS } from './worst-bodies.js';

const ONLY = process.env['BINNACLE_STALL_ONLY'] ?? '';
/** Of the processor's time: far more than any takes on the busiest machine. */
const MAX_MS = Number(process.env['BINNACLE_STALL_MS'] ?? 1_000);

for (const { name, requests } of [...ATTACKS, ...LARGE_FORMS].filter((attack) => attack.name.includes(ONLY))) {
  test(`${name}: no task is long`, { timeout: 600_000 }, async () => {
    await allShort(name, requests(BYTES), MAX_MS);
  });
}
