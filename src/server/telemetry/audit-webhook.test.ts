import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { lossesOf, testEvent } from '../../audit/testing.js';
import { directDialer } from '../../outbound/dialer.js';
import { buildAuditWebhook } from './audit-webhook.js';

/** A webhook, and the back end that calls it. */
async function connected(t: TestContext, answer: http.RequestListener, initialBackoffMs: number) {
  const server = http.createServer(answer);
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-audit-webhook-'));
  const file = path.join(folder, 'kubeconfig');
  const { port } = server.address() as AddressInfo;
  const clusters = [{ name: 'hook', cluster: { server: `http://127.0.0.1:${port}/audit/?a=b` } }];
  const contexts = [{ name: 'hook', context: { cluster: 'hook', user: 'us' } }];
  const users = [{ name: 'us', user: {} }];
  fs.writeFileSync(file, JSON.stringify({ clusters, contexts, users, 'current-context': 'hook' }));
  const { losses, onLost } = lossesOf();
  const ending = new AbortController().signal;
  const backend = buildAuditWebhook({ file, initialBackoffMs, dialer: directDialer, ending, onLost });
  t.after(async () => {
    await backend.close();
    server.close();
    fs.rmSync(folder, { recursive: true });
  });
  return { backend, losses };
}

test('lists of any size arrive whole, and say how long they are', async (t) => {
  const lists: { readonly bytes: number; readonly stated: string | undefined; readonly ids: string[] }[] = [];
  const answer: http.RequestListener = (request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const body = Buffer.concat(pieces);
      const { items } = JSON.parse(body.toString()) as { items: { auditID: string }[] };
      const ids = items.map(({ auditID }) => auditID);
      lists.push({ bytes: body.length, stated: request.headers['content-length'], ids });
      response.end();
    });
  };
  const { backend, losses } = await connected(t, answer, 10);

  const large = Buffer.from(JSON.stringify({ pad: 'x'.repeat(700_000) }));
  const event = (id: string) => testEvent(id, { level: 'Request', requestObject: large });
  await backend.process([event('1')]);
  await backend.process([event('2'), event('3'), event('4')]);

  assert.deepEqual(losses, []);
  assert.deepEqual(
    lists.map(({ ids }) => ids),
    [['1'], ['2', '3', '4']],
  );
  for (const { bytes, stated } of lists) assert.equal(stated, String(bytes));
});

test('a webhook that says when to come again, or where to, does not count as failed', async (t) => {
  const requests: string[] = [];
  const answer: http.RequestListener = (request, response) => {
    requests.push(`${request.method} ${request.url}`);
    request.resume();
    switch (requests.length) {
      case 1:
        response.writeHead(503, { 'retry-after': '0' }).end();
        break;
      case 2:
        response.writeHead(307, { location: '/moved' }).end();
        break;
      default:
        response.end();
    }
  };
  const { backend, losses } = await connected(t, answer, 3_600_000);
  assert.equal(await backend.process([testEvent('1')]), true);
  assert.deepEqual(losses, []);
  assert.deepEqual(requests, ['POST /audit?timeout=30s', 'POST /audit?timeout=30s', 'POST /moved']);
});

test('an answer that breaks off is none', async (t) => {
  let calls = 0;
  const answer: http.RequestListener = (request, response) => {
    request.resume();
    calls++;
    response.writeHead(200, { 'content-length': '100' });
    response.write('short', () => response.destroy());
  };
  const { backend, losses } = await connected(t, answer, 1);
  assert.equal(await backend.process([testEvent('1')]), false);
  assert.equal(calls, 5);
  assert.equal(losses.length, 1);
});
