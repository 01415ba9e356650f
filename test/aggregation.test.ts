// Extension API servers on the real program: kubectl top with a metrics server, servers that fail, and the end of ours.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import type { IncomingMessage } from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { type ExtensionServer, json, registerExtension, startExtensionServer } from './support/extension-server.js';
import { kubectlProgram, kubectlWith, NO_KUBECTL } from './support/kubectl.js';
import { startTestServer, type TestServer } from './support/server.js';

const program = kubectlProgram();
const WARES = { group: 'wares.example.test', version: 'v1' };
const CRATES = `/apis/${WARES.group}/${WARES.version}/crates`;
const UNREACHABLE = 'error trying to reach service: ';
const resource = (name: string, kind: string, namespaced = false) => ({
  name,
  singularName: '',
  namespaced,
  kind,
  verbs: ['get', 'list', 'watch'],
});

describe('kubectl top', { skip: program === undefined && NO_KUBECTL, timeout: 60_000 }, () => {
  it('shows what a metrics server says of nodes and pods', async () => {
    const server = await startTestServer({ flags: ['--disable-admission-plugins=ServiceAccount'] });
    const METRICS = { group: 'metrics.k8s.io', version: 'v1beta1' };
    const metadata = (name: string) => ({ name, creationTimestamp: '2026-01-01T00:00:00Z' });
    const usage = { cpu: '250m', memory: '512Mi' };
    const at = { timestamp: '2026-01-01T00:00:00Z', window: '30s' };
    const items = {
      nodes: [{ metadata: metadata('n'), ...at, usage }],
      pods: [{ metadata: { ...metadata('p'), namespace: 'default' }, ...at, containers: [{ name: 'c', usage }] }],
    };
    const resources = [resource('nodes', 'NodeMetrics'), resource('pods', 'PodMetrics', true)];
    const metrics = await startExtensionServer(server, { ...METRICS, resources }, ({ url = '' }, response) => {
      const kind = /\/nodes\b/.test(url) ? 'nodes' : /\/pods\b/.test(url) ? 'pods' : undefined;
      if (kind === undefined) return json(response, { kind: 'Status', status: 'Failure', code: 404 }, 404);
      const listKind = kind === 'nodes' ? 'NodeMetricsList' : 'PodMetricsList';
      json(response, { kind: listKind, apiVersion: 'metrics.k8s.io/v1beta1', metadata: {}, items: items[kind] });
    });
    try {
      await server.request('POST', '/api/v1/nodes', { metadata: { name: 'n' } });
      const status = { capacity: { cpu: '1', memory: '2Gi' }, allocatable: { cpu: '1', memory: '2Gi' } };
      await server.request('PATCH', '/api/v1/nodes/n/status', { status }, 'application/merge-patch+json');
      await registerExtension(server, { ...METRICS, port: metrics.port });
      const kubectl = kubectlWith(program ?? '', server.kubeconfig, server.folder);
      assert.match((await kubectl('top nodes')).out, /^n +250m +25% +512Mi +25% *$/m);
      assert.match((await kubectl('top pods --containers')).out, /^p +c +250m +512Mi *$/m);
    } finally {
      metrics.close();
      await server.stop();
    }
  });
});

describe('extension servers', { timeout: 120_000 }, () => {
  let server: TestServer;
  let good: ExtensionServer;
  let bad: ExtensionServer;
  const list = { kind: 'CrateList', apiVersion: `${WARES.group}/v1`, metadata: {}, items: [] };
  const BAD = { group: 'bad.example.test', version: 'v1' };
  const badly = (how: string): string => `/apis/${BAD.group}/v1/${how}`;

  before(async () => {
    server = await startTestServer({ flags: ['--disable-admission-plugins=ServiceAccount'] });
    const resources = [resource('crates', 'Crate')];
    good = await startExtensionServer(server, { ...WARES, resources }, ({ url = '' }, response) => {
      if (url.endsWith('/untyped')) return void response.end('<html></html>');
      if (!url.endsWith('/summed')) return json(response, list);
      response.writeHead(200, { trailer: 'X-Sum', 'content-type': 'text/plain' }).write('pieces');
      response.addTrailers({ 'X-Sum': '6', 'X-Late': 'unannounced' });
      response.end();
    });
    bad = await startExtensionServer(server, { ...BAD, resources: [] }, ({ url = '', socket }, response) => {
      if (url.endsWith('/hangs') || url.startsWith('/openapi')) return;
      if (url.endsWith('/garbage')) return void socket.end('what?\r\n\r\n');
      if (url.endsWith('/dies')) return void socket.destroy();
      response.writeHead(200, { 'content-length': '1000', 'content-type': 'application/json' });
      response.write('{"half":', () => socket.destroy());
    });
    await registerExtension(server, { ...WARES, port: good.port });
    await registerExtension(server, { ...BAD, port: bad.port });
  });
  after(async () => {
    good.close();
    bad.close();
    await server.stop();
  });

  it('send trailers, which clients get', async () => {
    const response = await new Promise<IncomingMessage>((resolve) => {
      open(server, `${CRATES}/summed`).on('response', resolve);
    });
    assert.equal(Buffer.concat(await response.toArray()).toString(), 'pieces');
    assert.equal(response.headers.trailer, 'X-Sum');
    assert.deepEqual(response.rawTrailers, ['X-Sum', '6', 'X-Late', 'unannounced']);
    const pki = (name: string): Buffer => fs.readFileSync(`${server.folder}/pki/${name}`);
    const identity = { ca: pki('ca.crt'), cert: pki('admin.crt'), key: pki('admin.key') };
    const session = http2.connect(server.url, identity);
    const stream = session.request({ ':path': `${CRATES}/summed` });
    const trailers = new Promise<http2.IncomingHttpHeaders>((resolve) => stream.once('trailers', resolve));
    stream.resume();
    assert.deepEqual(Object.entries(await trailers), [
      ['x-sum', '6'],
      ['x-late', 'unannounced'],
    ]);
    session.close();
  });

  it('may speak nothing but HTTP/2', async () => {
    const NEWEST = { group: 'newest.example.test', version: 'v1' };
    const pki = (name: string): Buffer => fs.readFileSync(`${server.folder}/pki/${name}`);
    const identity = { cert: pki('apiserver.crt'), key: pki('apiserver.key') };
    const newest = http2.createSecureServer({ ...identity, allowHTTP1: false });
    const sessions = new Set<http2.ServerHttp2Session>();
    newest.on('session', (session) => sessions.add(session));
    newest.on('stream', (stream) => {
      stream.respond({ ':status': 200, 'content-type': 'application/json' });
      stream.end('{}');
    });
    await new Promise<void>((resolve) => newest.listen(0, '127.0.0.1', resolve));
    try {
      await registerExtension(server, { ...NEWEST, port: (newest.address() as AddressInfo).port });
      const { status, body } = await server.request('GET', `/apis/${NEWEST.group}/v1/things`);
      assert.deepEqual([status, body], [200, '{}']);
    } finally {
      for (const session of sessions) session.destroy();
      newest.close();
    }
  });

  it('say nothing of the form of their answers, which is guessed', async () => {
    const response = await new Promise<IncomingMessage>((resolve) => {
      open(server, `${CRATES}/untyped`).on('response', resolve);
    });
    assert.equal(response.headers['content-type'], 'text/html; charset=utf-8');
    assert.equal(Buffer.concat(await response.toArray()).toString(), '<html></html>');
  });

  it('that hang, die or answer garbage are felt by their own requests only', async () => {
    const hanging = Array.from({ length: 50 }, () => open(server, badly('hangs')));
    for (let round = 0; round < 5; round++) {
      const [garbage, dead, half, other, own] = await Promise.all([
        server.request('GET', badly('garbage')),
        server.request('GET', badly('dies')),
        server.request('GET', badly('breaks-off')).catch((error: Error) => error),
        server.request('GET', CRATES),
        server.request('GET', '/api/v1/namespaces/default'),
      ]);
      assert.deepEqual(
        [garbage.status, garbage.body],
        [503, `${UNREACHABLE}net/http: HTTP/1.x transport connection broken: malformed HTTP response "what?"\n`],
      );
      assert.deepEqual([dead.status, dead.body], [503, `${UNREACHABLE}EOF\n`]);
      assert.ok(half instanceof Error, 'half an answer does not look like a whole one');
      assert.deepEqual([other.status, own.status], [200, 200]);
    }
    // A server that hangs on requests for its documents holds back no other documents.
    assert.equal((await server.request('GET', '/openapi/v2')).status, 200);
    assert.match((await server.request('GET', '/openapi/v3')).body, /"api\/v1"/);
    for (const request of hanging) request.destroy();
  });
});

describe('the end of the server', { timeout: 60_000 }, () => {
  it('ends a watch of an extension server whole', async () => {
    const server = await startTestServer();
    const added = `${JSON.stringify({ type: 'ADDED', object: { kind: 'Crate', apiVersion: `${WARES.group}/v1` } })}\n`;
    const resources = [resource('crates', 'Crate')];
    const extension = await startExtensionServer(server, { ...WARES, resources }, (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).write(added);
    });
    await registerExtension(server, { ...WARES, port: extension.port });
    let text = '';
    const ended = new Promise<string>((resolve) => {
      open(server, `${CRATES}?watch=1`).on('response', (response) => {
        response.on('data', (piece: Buffer) => {
          text += piece.toString();
          if (text === added) void server.stop();
        });
        response.on('end', () => resolve('whole'));
        response.on('error', (error: Error) => resolve(error.message));
      });
    });
    assert.equal(await ended, 'whole');
    assert.equal(text, added);
    extension.close();
    await server.stop();
  });
});

/** A request of the administrator, whose answer may never come. */
function open({ url, folder }: TestServer, path: string): ReturnType<typeof https.get> {
  const pki = (name: string): Buffer => fs.readFileSync(`${folder}/pki/${name}`);
  const identity = { ca: pki('ca.crt'), cert: pki('admin.crt'), key: pki('admin.key') };
  return https.get(url + path, { ...identity, agent: false }).on('error', () => undefined);
}
