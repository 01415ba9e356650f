// /logs of the real program: the log files of this machine.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { startTestServer, type TestServer } from './support/server.js';

describe('/logs', { timeout: 60_000 }, () => {
  let server: TestServer;
  before(async () => (server = await startTestServer({ flags: ['--enable-logs-handler'] })));
  after(() => server.stop());

  it('lists the folder of logs, and leads to it', async () => {
    const { status, headers } = await server.request('GET', '/logs');
    assert.deepEqual([status, headers.location], [301, 'logs/']);
    const page = await server.request('GET', '/logs/');
    assert.equal(page.status, 200);
    for (const entry of fs.readdirSync('/var/log')) assert.ok(page.body.includes(`>${entry}`), entry);
    assert.match((await server.request('GET', '/')).body, /"\/logs"/);
  });

  it('serves only files below it, and only for reading', async () => {
    const status = async (method: string, path: string): Promise<number> => (await server.request(method, path)).status;
    assert.equal(await status('GET', '/logs/no-such-file'), 404);
    assert.equal(await status('GET', '/logs/../../etc/passwd'), 400);
    assert.equal(await status('GET', '/logs/%2e%2e/%2e%2e/etc/passwd'), 400);
    assert.equal(await status('POST', '/logs/'), 405);
    assert.equal(await status('GET', '/logsx'), 404);
  });
});

describe('/logs without its flag', { timeout: 60_000 }, () => {
  it('is not there', async () => {
    const server = await startTestServer();
    try {
      assert.equal((await server.request('GET', '/logs/')).status, 404);
    } finally {
      await server.stop();
    }
  });
});
