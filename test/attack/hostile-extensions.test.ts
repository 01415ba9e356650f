// workers: one, it meters the process that it starts
// An extension server that says very much of what it has: it is read cooperatively.
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type ExtensionServer, registerExtension, startExtensionServer } from '../support/extension-server.js';
import { pollUntil } from '../../src/lib/testing/poll-until.js';
import { longestTask, longestUntilIdle } from '../support/longest-task.js';
import { startTestServer, type TestServer } from '../support/server.js';

const root = process.env['BINNACLE_ROOT'] ?? process.cwd();
const MAX_TASK_MS = 150;
const MIB = 1024 * 1024;
const ALL_IN_ONE = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

const nested = (characters: number): string => '['.repeat(characters / 2) + ']'.repeat(characters / 2);
const members = (count: number): string => Array.from({ length: count }, (_, i) => `"key${i}":{"verbs":[]}`).join();

describe('hostile extension servers', { timeout: 120_000 }, () => {
  let server: TestServer;
  let extension: ExtensionServer | undefined;
  let discovery = '{}';
  let index = '{}';
  const requested: string[] = [];

  before(async () => {
    server = await startTestServer({ meterTasks: path.join(root, 'test', 'support', 'task-meter.cjs') });
  });
  after(async () => {
    extension?.close();
    await server.stop();
  });

  const cases = [
    { what: 'a list of resources that nests', group: 'a.example', says: `{"items":${nested(7 * MIB)}}`, paths: '{}' },
    { what: 'very many members', group: 'b.example', says: `{"items":[],${members(250_000)}}`, paths: '{}' },
    { what: 'an index that nests', group: 'c.example', says: '{}', paths: `{"paths":${nested(MIB - 64)}}` },
  ];
  for (const { what, group, says, paths } of cases) {
    it(`${what} is no long task`, async (t) => {
      discovery = says;
      index = paths;
      const resources = [{ name: 'wares', kind: 'Ware', namespaced: true, verbs: ['get'] }];
      extension = await startExtensionServer(server, { group, version: 'v1', resources }, (request, response) => {
        requested.push(String(request.url));
        if (request.url === '/apis') response.writeHead(200, { 'content-type': ALL_IN_ONE }).end(discovery);
        else if (request.url === '/openapi/v3') response.writeHead(200).end(index);
        else response.writeHead(404).end();
      });
      requested.length = 0;
      await longestTask(server.folder);
      await registerExtension(server, { group, version: 'v1', port: extension.port });
      await pollUntil(() => ['/apis', '/openapi/v3'].every((one) => requested.includes(one)));
      const { longestMs } = await longestUntilIdle(server.folder);
      t.diagnostic(`${longestMs.toFixed(0)} ms`);
      assert.ok(longestMs < MAX_TASK_MS, `a task of ${longestMs} ms`);
      extension.close();
    });
  }
});
