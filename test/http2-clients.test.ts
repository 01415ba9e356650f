// runs-on: every-node
// HTTP/2 with clients that others wrote: curl, nghttp and h2load (libcurl and nghttp2), and Node's. kubectl, which is
// Go's, has test/kubectl.test.ts. Where a program is missing its test is skipped.
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import http2 from 'node:http2';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { startTestServer, type TestServer } from './support/server.js';

const run = promisify(execFile);
const missing = (program: string): string | false =>
  spawnSync(program, ['--version']).error === undefined ? false : `${program} is not here`;
const MAPS = '/api/v1/namespaces/default/configmaps';
const PIECE = 'x'.repeat(900_000);

let server: TestServer;
let pki: (name: string) => string;
before(async () => {
  server = await startTestServer();
  pki = (name) => path.join(server.folder, 'pki', name);
});
after(() => server.stop());

const map = (name: string, data: string): string =>
  JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { data } });

async function curl(...args: string[]): Promise<string> {
  const identity = ['--cacert', pki('ca.crt'), '--cert', pki('admin.crt'), '--key', pki('admin.key')];
  const { stdout } = await run('curl', ['-s', '--http2', ...identity, ...args], { maxBuffer: 1 << 24 });
  return stdout;
}

test('curl: create a large object, read it, read its head, watch it', { skip: missing('curl') }, async () => {
  const file = path.join(server.folder, 'large.json');
  fs.writeFileSync(file, map('large', PIECE));
  const json = ['-H', 'content-type: application/json', '--data-binary', `@${file}`];
  const shown = '%{http_version} %{http_code}';
  assert.equal(await curl('-o', '/dev/null', '-w', shown, ...json, server.url + MAPS), '2 201');
  const read = JSON.parse(await curl(`${server.url}${MAPS}/large`)) as { data: { data: string } };
  assert.equal(read.data.data, PIECE);
  assert.match(await curl('-I', `${server.url}/version`), /^HTTP\/2 (200|405)/);
  const watched = await curl(`${server.url}${MAPS}?watch=1&timeoutSeconds=1&fieldSelector=metadata.name%3Dlarge`);
  assert.match(watched, /^\{"type":"ADDED"/);
  // Many at once on one connection.
  const many = Array.from({ length: 60 }, () => ['-o', '/dev/null', `${server.url}${MAPS}/large`]).flat();
  const codes = await curl('--parallel', '--parallel-max', '60', '-w', '%{http_code} ', ...many);
  assert.equal(codes.trim(), Array(60).fill('200').join(' '));
});

test('curl: what is refused before all of it has come gets the reason', { skip: missing('curl') }, async () => {
  const file = path.join(server.folder, 'too-large.json');
  fs.writeFileSync(file, map('too-large', PIECE.repeat(5)));
  const json = ['-H', 'content-type: application/json', '--data-binary', `@${file}`];
  const answer = JSON.parse(await curl(...json, server.url + MAPS)) as { message: string };
  assert.equal(answer.message, 'Request entity too large: limit is 3145728');
});

test('nghttp: padded frames, a small window, many streams, trailers', { skip: missing('nghttp') }, async () => {
  const nghttp = async (...args: string[]): Promise<string> => {
    const identity = [`--cert=${pki('admin.crt')}`, `--key=${pki('admin.key')}`];
    const { stdout } = await run('nghttp', [...identity, ...args], { maxBuffer: 1 << 26 });
    return stdout;
  };
  const body = map('padded', 'y'.repeat(100_000));
  const file = path.join(server.folder, 'padded.json');
  fs.writeFileSync(file, body);
  const post = await nghttp(
    '-nv',
    '-b',
    '200',
    '-d',
    file,
    '-H',
    'content-type: application/json',
    '--trailer',
    'x: y',
    server.url + MAPS,
  );
  assert.match(post, /:status: 201/);
  // A window of 2^10 bytes of stream and connection, so that the answer waits a hundred times for a step.
  const small = await nghttp('-w', '10', '-W', '16', `${server.url}${MAPS}/padded`);
  assert.equal((JSON.parse(small) as { data: { data: string } }).data.data.length, 100_000);
  const many = await nghttp('-nv', '-m', '90', `${server.url}${MAPS}/padded`);
  assert.equal(many.match(/:status: 200/g)?.length, 90);
  // Tables of no size, so that nothing is indexed on either side.
  const bare = await nghttp(
    '-nv',
    '--header-table-size=0',
    '--encoder-header-table-size=0',
    '-m',
    '3',
    `${server.url}/version`,
  );
  assert.equal(bare.match(/:status: 200/g)?.length, 3);
});

test('h2load: every request is answered well', { skip: missing('h2load') }, async () => {
  const { token } = await tokenOf(server);
  const args = [
    '-n',
    '5000',
    '-c',
    '5',
    '-m',
    '50',
    '-H',
    `authorization: Bearer ${token}`,
    `${server.url}${MAPS}/none`,
  ];
  const { stdout } = await run('h2load', args);
  assert.match(stdout, /5000 total, 5000 started, 5000 done/);
  assert.match(stdout, /0 errored, 0 timeout/);
  assert.match(stdout, /status codes: 0 2xx, 0 3xx, 5000 4xx, 0 5xx/);
});

async function tokenOf(from: TestServer): Promise<{ token: string }> {
  const account = '/api/v1/namespaces/default/serviceaccounts';
  await from.request('POST', account, { metadata: { name: 'load' } });
  const { body } = await from.request('POST', `${account}/load/token`, { spec: {} });
  return { token: (JSON.parse(body) as { status: { token: string } }).status.token };
}

test('Node: a hundred watches on one connection each see what happens, and a ping is answered', async () => {
  const session = http2.connect(server.url, {
    ca: fs.readFileSync(pki('ca.crt')),
    cert: fs.readFileSync(pki('admin.crt')),
    key: fs.readFileSync(pki('admin.key')),
  });
  await new Promise((resolve) => session.once('remoteSettings', resolve));
  let seen = 0;
  let done = (): void => undefined;
  const all = new Promise<void>((resolve) => (done = resolve));
  for (let i = 0; i < 99; i++) {
    const stream = session.request({ ':path': `${MAPS}?watch=1&fieldSelector=metadata.name%3Dseen` });
    stream.on('error', () => undefined);
    stream.on('data', (piece: Buffer) => {
      for (const byte of piece) if (byte === 0x0a) seen++;
      if (seen === 99 * 2) done();
    });
    await new Promise((resolve) => stream.once('response', resolve));
  }
  assert.equal((await server.request('POST', MAPS, JSON.parse(map('seen', '1')))).status, 201);
  assert.equal((await server.request('DELETE', `${MAPS}/seen`)).status, 200);
  await all;
  await new Promise((resolve, reject) =>
    session.ping((error: Error | null) => (error === null ? resolve(undefined) : reject(error))),
  );
  session.destroy();
});

test('Node: 1,300 watches opened and given up on one connection, and then a request', async () => {
  const session = http2.connect(server.url, {
    ca: fs.readFileSync(pki('ca.crt')),
    cert: fs.readFileSync(pki('admin.crt')),
    key: fs.readFileSync(pki('admin.key')),
  });
  await new Promise((resolve) => session.once('remoteSettings', resolve));
  for (let i = 0; i < 1300; i++) {
    const stream = session.request({ ':path': `${MAPS}?watch=1` });
    stream.on('error', () => undefined);
    stream.close(http2.constants.NGHTTP2_CANCEL);
    if (i % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  const last = session.request({ ':path': '/version' });
  const [head] = (await once(last, 'response')) as [http2.IncomingHttpHeaders];
  assert.equal(head[':status'], 200);
  session.destroy();
});
