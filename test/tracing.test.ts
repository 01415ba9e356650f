// Traces on the real program, with collectors that accept them, are not there, say nothing, die and refuse: a request
// does not notice, and neither does the end of the server for long.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http2 from 'node:http2';
import net, { type AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { after, describe, it } from 'node:test';
import { many, message, text } from '../src/lib/protobuf/message.js';
import { freePort } from './support/free-port.js';
import { startTestServer, type TestServer } from './support/server.js';
import { pollUntil } from '../src/lib/testing/poll-until.js';

const TOKEN = 'secret';
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-tracing-'));
after(() => fs.rmSync(folder, { recursive: true, force: true }));

type Answer = (stream: http2.ServerHttp2Stream) => void;

const accepting: Answer = (stream) => {
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
  stream.end(Buffer.alloc(5));
};
const refusing: Answer = (stream) => {
  const status = { 'grpc-status': '3', 'grpc-message': 'not like this' };
  stream.respond({ ':status': 200, 'content-type': 'application/grpc', ...status }, { endStream: true });
};
const babbling: Answer = (stream) => {
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' });
  stream.end(Buffer.alloc(64, 0xff));
};
const dying: Answer = (stream) => stream.session?.destroy();

interface TestCollector {
  readonly endpoint: string;
  /** Of all spans that came, also where they were not accepted. */
  readonly names: string[];
  calls: number;
  answer: Answer;
}

async function startCollector(answer: Answer, socket?: string): Promise<TestCollector> {
  const server = http2.createServer();
  const collector = { endpoint: '', names: [] as string[], calls: 0, answer };
  const sessions = new Set<http2.ServerHttp2Session>();
  server.on('session', (session) => void sessions.add(session.on('error', () => undefined)));
  server.on('stream', (stream) => {
    const parts: Buffer[] = [];
    stream.on('error', () => undefined);
    stream.on('data', (part: Buffer) => parts.push(part));
    stream.on('end', () => {
      collector.calls++;
      collector.names.push(...spanNames(Buffer.concat(parts).subarray(5)));
      collector.answer(stream);
    });
  });
  after(() => {
    for (const session of sessions) session.destroy();
    server.close();
  });
  await new Promise<void>((resolve) => {
    if (socket === undefined) server.listen(0, '127.0.0.1', resolve);
    else server.listen(socket, resolve);
  });
  const port = socket === undefined ? (server.address() as AddressInfo).port : 0;
  return Object.assign(collector, { endpoint: socket === undefined ? `127.0.0.1:${port}` : `unix://${socket}` });
}

const EXPORT = message({
  resourceSpans: many(1, message({ scopeSpans: many(2, message({ spans: many(2, message({ name: text(5) })) })) })),
});

const spanNames = (request: Buffer): string[] =>
  EXPORT.decode(request).resourceSpans.flatMap(({ scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) => spans.map(({ name }) => name)),
  );

async function start(endpoint: string): Promise<TestServer> {
  const file = path.join(folder, `${encodeURIComponent(endpoint)}.json`);
  const kind = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'TracingConfiguration' };
  fs.writeFileSync(file, JSON.stringify({ ...kind, endpoint, samplingRatePerMillion: 1_000_000 }));
  return startTestServer({ flags: [`--tracing-config-file=${file}`], adminToken: TOKEN });
}

async function use(server: TestServer): Promise<void> {
  const maps = '/api/v1/namespaces/default/configmaps';
  const name = `m-${Math.random().toString(36).slice(2)}`;
  assert.equal((await server.request('POST', maps, { metadata: { name } })).status, 201);
  assert.equal((await server.request('GET', `${maps}/${name}`)).status, 200);
}

const GET_NAME = 'GET /api/v1/namespaces/{:namespace}/configmaps/{:name}';

async function dropped(server: TestServer, reason: string): Promise<number> {
  const { body } = await server.request('GET', '/metrics');
  const line = body
    .split('\n')
    .find((one) => one.startsWith('apiserver_tracing_dropped_spans_total') && one.includes(reason));
  return Number(line?.split(' ').at(-1) ?? 0);
}

/** Whatever its collector does. How long it may wait for it is held by the queue's own tests. */
async function endsByItself(server: TestServer): Promise<void> {
  await server.stop();
  assert.equal(await server.exited, 0);
}

describe('traces', { concurrency: true }, () => {
  it('reach a collector in batches, and what is left at the end', async () => {
    const collector = await startCollector(accepting);
    const server = await start(collector.endpoint);
    await use(server);
    await pollUntil(() => collector.names.includes(GET_NAME));
    const before = collector.names.length;
    await use(server);
    await endsByItself(server);
    assert.ok(collector.names.slice(before).includes(GET_NAME), 'the end sends what waits');
  });

  it('reach a collector on a unix socket', async () => {
    const collector = await startCollector(accepting, path.join(folder, 'collector.sock'));
    const server = await start(collector.endpoint);
    await use(server);
    await endsByItself(server);
    assert.ok(collector.names.includes(GET_NAME));
  });

  it('cost nothing but themselves when nobody collects', async () => {
    const server = await start(`127.0.0.1:${await freePort()}`);
    await use(server);
    assert.equal((await server.request('GET', '/readyz')).status, 200);
    await endsByItself(server);
    assert.match(server.log(), /The collector does not accept spans/);
  });

  it('do not hold up the end of the server where the collector says nothing', async () => {
    for (const listener of [net.createServer(() => undefined), http2.createServer()]) {
      const sockets: net.Socket[] = [];
      listener.on('connection', (socket: net.Socket) => void sockets.push(socket.on('error', () => undefined)));
      await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
      const server = await start(`127.0.0.1:${(listener.address() as AddressInfo).port}`);
      await use(server);
      await pollUntil(() => sockets.length > 0);
      await use(server);
      await endsByItself(server);
      for (const socket of sockets) socket.destroy();
      listener.close();
    }
  });

  it('are sent again to a collector that died over them', async () => {
    const collector = await startCollector(dying);
    const server = await start(collector.endpoint);
    await use(server);
    await pollUntil(() => collector.calls > 0);
    await use(server);
    const lost = collector.names.splice(0).length;
    collector.answer = accepting;
    await pollUntil(() => collector.names.length >= lost && collector.names.includes(GET_NAME));
    assert.equal(await dropped(server, 'not-taken'), 0);
    await endsByItself(server);
  });

  it('are dropped and counted where the collector refuses them, and later ones are sent', async () => {
    const collector = await startCollector(refusing);
    const server = await start(collector.endpoint);
    await use(server);
    await pollUntil(async () => (await dropped(server, 'not-taken')) > 0);
    collector.answer = accepting;
    collector.names.splice(0);
    await use(server);
    await pollUntil(() => collector.names.includes(GET_NAME));
    await endsByItself(server);
  });

  it('survive a collector that answers rubbish', async () => {
    const collector = await startCollector(babbling);
    const server = await start(collector.endpoint);
    await use(server);
    await pollUntil(() => collector.calls > 0);
    await use(server);
    await endsByItself(server);
  });
});
