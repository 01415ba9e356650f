// workers: one, it meters the process that it starts
// Controllers look at all objects of a namespace, however many, without keeping others waiting.
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { pollUntil } from '../../src/lib/testing/poll-until.js';
import { longestTask } from '../support/longest-task.js';
import { startTestServer, type TestServer } from '../support/server.js';

const root = process.env['BINNACLE_ROOT'] ?? process.cwd();
const PODS = 3_000;
const AT_ONCE = 32;
/** Of the processor's time, with what a busy machine's cold caches take; counted in one task these take 0.3 s. */
const MAX_MS = 240;
const CORE = '/api/v1/namespaces/default';

let server: TestServer;

before(async () => {
  server = await startTestServer({
    flags: ['--controllers=resourcequota,namespace', '--disable-admission-plugins=ServiceAccount'],
    keepsConnections: true,
    meterTasks: path.join(root, 'test', 'support', 'task-meter.cjs'),
  });
});

after(() => server.stop());

test('pods are counted for a quota cooperatively', { timeout: 180_000 }, async () => {
  const spec = { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '1m' } } }] };
  let next = 0;
  const create = async (): Promise<void> => {
    while (next < PODS) await server.request('POST', `${CORE}/pods`, { metadata: { name: `p${next++}` }, spec });
  };
  await Promise.all(Array.from({ length: AT_ONCE }, create));
  await longestTask(server.folder);
  const hard = { pods: '100000', 'requests.cpu': '100000' };
  await server.request('POST', `${CORE}/resourcequotas`, { metadata: { name: 'q' }, spec: { hard } });
  interface Quota {
    readonly status: { readonly used?: Readonly<Record<string, string>> };
  }
  const used = await pollUntil(async () => {
    const { body } = await server.request('GET', `${CORE}/resourcequotas/q`);
    return (JSON.parse(body) as Quota).status.used;
  });
  const { longestMs } = await longestTask(server.folder);
  assert.deepEqual(used, { pods: '3k', 'requests.cpu': '3' });
  assert.ok(longestMs < MAX_MS, `${longestMs} ms`);
});
