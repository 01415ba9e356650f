// The embedded store of a running server, by etcd's API.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, it } from 'node:test';
import { openEtcdStore } from '../src/kv/etcd/etcd.js';
import { collect } from '../src/kv/kv.contract.js';
import type { KeyValueStore } from '../src/kv/kv.js';
import { directDialer } from '../src/outbound/dialer.js';
import { createAuthority } from './support/certificates.js';
import { freePort } from './support/free-port.js';
import { startTestServer } from './support/server.js';

const root = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-store-listen-'));
after(() => fs.rmSync(root, { recursive: true, force: true }));
const open = (servers: readonly string[], more: object = {}): KeyValueStore =>
  openEtcdStore({ dialer: directDialer, servers, ...more });

it('shows what is stored on a Unix socket, and lets nobody write', async () => {
  const url = `unix://${path.join(root, 'store.sock')}`;
  const server = await startTestServer({ flags: [`--store-listen-url=${url}`] });
  const kv = open([url]);
  try {
    const prefix = '/registry/configmaps/default/';
    await kv.revision();
    const events = collect(kv, { prefix });
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'seen' }, data: { a: '1' } };
    await server.request('POST', '/api/v1/namespaces/default/configmaps', object);
    const [event] = await events.take(1);
    assert.equal(event?.key, `${prefix}seen`);
    assert.match((await kv.get(`${prefix}seen`))?.value.toString() ?? '', /"data":\{"a":"1"\}/);
    await assert.rejects(kv.create('/other', Buffer.from('1')), /permission denied/);
    events.cancel();
  } finally {
    await kv.close();
    await server.stop();
  }
});

it('serves on a loopback address to clients with a certificate, and the server sees what they write', async () => {
  const authority = createAuthority(root, 'store-ca');
  const client = authority.issue('client', 'client');
  const url = `https://127.0.0.1:${await freePort()}`;
  const flags = [`--store-listen-url=${url}`, `--store-client-ca-file=${authority.ca}`, '--store-access=read-write'];
  const server = await startTestServer({ flags });
  const caFile = path.join(root, 'serving-ca.crt');
  const kubeconfig = fs.readFileSync(server.kubeconfig, 'utf8');
  const encoded = /certificate-authority-data: (\S+)/.exec(kubeconfig)?.[1] ?? '';
  fs.writeFileSync(caFile, Buffer.from(encoded, 'base64'));
  const kv = open([url], { caFile, certFile: client.cert, keyFile: client.key });
  const stranger = open([url], { caFile });
  try {
    await assert.rejects(stranger.revision());
    const path_ = '/api/v1/namespaces/default/configmaps/changed';
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'changed' }, data: { a: '1' } };
    await server.request('POST', '/api/v1/namespaces/default/configmaps', object);
    const found = await kv.get('/registry/configmaps/default/changed');
    assert.ok(found !== undefined);
    const value = Buffer.from(found.value.toString().replace('"a":"1"', '"a":"2"'));
    assert.equal((await kv.update('/registry/configmaps/default/changed', found.modRevision, value)).done, true);
    assert.match((await server.request('GET', path_)).body, /"a":"2"/);
  } finally {
    await Promise.all([kv.close(), stranger.close()]);
    await server.stop();
  }
});
