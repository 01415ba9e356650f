import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { lossesOf, testEvent } from '../audit/testing.js';
import { directDialer } from '../outbound/dialer.js';
import { buildAuditWebhook } from './audit-webhook.js';

test('lists of any size arrive whole, and say how long they are', async (t) => {
  const lists: { readonly bytes: number; readonly stated: string | undefined; readonly ids: string[] }[] = [];
  const server = http.createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const body = Buffer.concat(pieces);
      const { items } = JSON.parse(body.toString()) as { items: { auditID: string }[] };
      const ids = items.map(({ auditID }) => auditID);
      lists.push({ bytes: body.length, stated: request.headers['content-length'], ids });
      response.end();
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-audit-webhook-'));
  const file = path.join(folder, 'kubeconfig');
  const { port } = server.address() as AddressInfo;
  const clusters = [{ name: 'hook', cluster: { server: `http://127.0.0.1:${port}/audit` } }];
  const contexts = [{ name: 'hook', context: { cluster: 'hook', user: 'us' } }];
  const users = [{ name: 'us', user: {} }];
  fs.writeFileSync(file, JSON.stringify({ clusters, contexts, users, 'current-context': 'hook' }));
  const { losses, onLost } = lossesOf();
  const ending = new AbortController().signal;
  const backend = buildAuditWebhook({ file, initialBackoffMs: 10, dialer: directDialer, ending, onLost });
  t.after(async () => {
    await backend.close();
    server.close();
    fs.rmSync(folder, { recursive: true });
  });

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
