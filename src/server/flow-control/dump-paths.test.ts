import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testRequest } from '../../filters/testing.js';
import { dumpPaths } from './dump-paths.js';

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
