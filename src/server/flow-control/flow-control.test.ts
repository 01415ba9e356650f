import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testRequest } from '../../filters/testing.js';
import { dumpPaths, inFlightShare } from './flow-control.js';

test('a dump has one path, and a slash more is another', async () => {
  const pages = dumpPaths({ levels: [] });
  const answered = async (path: string): Promise<readonly number[]> => {
    const answers = await Promise.all(pages.map(async (page) => page(testRequest('GET', path), path)));
    return answers.flatMap((answer) => answer?.status ?? []);
  };
  for (const name of ['priority_levels', 'queues', 'requests']) {
    assert.deepEqual(await answered(`/debug/api_priority_and_fairness/dump_${name}`), [200]);
    assert.deepEqual(await answered(`/debug/api_priority_and_fairness/dump_${name}/`), []);
  }
});

test('all processes together keep to a limit, to within one for each; no limit stays none', () => {
  for (const [limit, workers] of [
    [600, 2],
    [400, 16],
    [7, 4],
    [1, 8],
  ] as const) {
    const all = inFlightShare(limit, workers) * workers;
    assert.ok(all >= limit && all < limit + workers);
  }
  assert.equal(inFlightShare(600, 1), 600);
  assert.equal(inFlightShare(0, 4), 0);
});
