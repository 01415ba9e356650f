// runs-on: every-node
// The real program: health over both protocols, and its end under load.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import fs from 'node:fs';
import http2 from 'node:http2';
import https from 'node:https';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { freePort } from './support/free-port.js';
import { withWorkers } from './support/worker-flags.js';
import { pollUntil } from '../src/lib/testing/poll-until.js';

const root = process.env.BINNACLE_ROOT ?? process.cwd();
const DELAY_MS = 3000;
/** Every worker process logs them, in this order. */
const SHUTDOWN_EVENTS = [
  'ShutdownInitiated',
  'AfterShutdownDelayDuration',
  'NotAcceptingNewRequest',
  'InFlightRequestsDrained',
  'HTTPServerStoppedListening',
];

interface Server {
  readonly process: ChildProcess;
  readonly port: number;
  readonly log: () => string;
  readonly exited: Promise<number | null>;
  readonly tls: { readonly ca: Buffer; readonly cert: Buffer; readonly key: Buffer };
  stop(): Promise<void>;
}

async function start(...flags: string[]): Promise<Server> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-server-'));
  const port = await freePort();
  const child = spawn(
    path.join(root, 'bin', 'binnacle'),
    withWorkers(['--authorization-mode=RBAC', `--data-dir=${folder}`, `--secure-port=${port}`, '-v=1', ...flags]),
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let log = '';
  const exited = new Promise<number | null>((resolve) => child.on('exit', resolve));
  await new Promise<void>((resolve, reject) => {
    child.stderr?.on('data', (text: Buffer) => {
      log += text.toString();
      if (log.includes('Serving securely on')) resolve();
    });
    child.on('exit', () => reject(new Error(`the server ended:\n${log}`)));
  });
  const pki = (name: string): Buffer => fs.readFileSync(path.join(folder, 'pki', name));
  return {
    process: child,
    port,
    log: () => log,
    exited,
    tls: { ca: pki('ca.crt'), cert: pki('admin.crt'), key: pki('admin.key') },
    async stop() {
      child.kill('SIGKILL');
      await exited;
      fs.rmSync(folder, { recursive: true, force: true });
    },
  };
}

interface Answer {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: string;
}

function get1(server: Server, target: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port: server.port, path: target, agent: false as const, ...server.tls };
    const request = https.get(options, (response) => {
      let body = '';
      response.on('data', (piece: Buffer) => (body += piece.toString()));
      response.on('error', reject);
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }));
    });
    request.on('error', reject);
  });
}

const connect = (server: Server): http2.ClientHttp2Session =>
  http2.connect(`https://127.0.0.1:${server.port}`, server.tls).on('error', () => undefined);

function get2(session: http2.ClientHttp2Session, target: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ':path': target });
    let headers: http2.IncomingHttpHeaders | undefined;
    let body = '';
    stream.on('response', (received) => (headers = received));
    stream.on('data', (piece: Buffer) => (body += piece.toString()));
    stream.on('error', (error) => reject(headers === undefined ? error : new Error(`cut: ${error.message}`)));
    stream.on('end', () => {
      if (headers === undefined) reject(new Error('refused before it was read'));
      else resolve({ status: Number(headers[':status']), headers, body });
    });
  });
}

async function ready(server: Server): Promise<void> {
  await pollUntil(async () => (await get1(server, '/readyz')).status === 200);
}

test('health is served over HTTP/1.1 and HTTP/2, whole and by check', async () => {
  const server = await start();
  try {
    await ready(server);
    const session = connect(server);
    for (const get of [(target: string) => get1(server, target), (target: string) => get2(session, target)]) {
      for (const endpoint of ['healthz', 'livez', 'readyz']) {
        const { status, headers, body } = await get(`/${endpoint}`);
        assert.deepEqual([status, headers['content-type'], body], [200, 'text/plain; charset=utf-8', 'ok']);
        const verbose = (await get(`/${endpoint}?verbose&exclude=log&exclude=nope`)).body;
        assert.match(verbose, /^\[\+\]ping ok\n\[\+\]log excluded: ok\n/);
        assert.ok(
          verbose.endsWith(
            `warn: some health checks cannot be excluded: no matches for "nope"\n${endpoint} check passed\n`,
          ),
        );
        assert.equal((await get(`/${endpoint}/ping`)).body, 'ok');
      }
      assert.deepEqual(
        [(await get('/livez/nope')).status, (await get('/livez/nope')).body],
        [404, '404 page not found\n'],
      );
    }
    session.close();
  } finally {
    await server.stop();
  }
});

for (const workers of [1, 2]) {
  test(`SIGTERM under load (--workers=${workers}): served while delaying, 429 while draining, nothing cut, exit code 0`, async () => {
    const flags = [`--workers=${workers}`, `--shutdown-delay-duration=${DELAY_MS}ms`];
    const server = await start(...flags, '--shutdown-send-retry-after=true');
    try {
      await ready(server);
      if (workers > 1) await pollUntil(() => server.log().includes('All worker processes have started'));
      const outcomes: { readonly atMs: number; readonly what: string }[] = [];
      let stopped = false;
      let signalledMs = Infinity;
      let done = (): void => undefined;
      const sent429 = new Promise<void>((resolve) => (done = resolve));
      const note = (what: string): void => {
        outcomes.push({ atMs: performance.now() - signalledMs, what });
        if (what === '429') done();
      };
      const load = async (get: () => Promise<Answer>): Promise<void> => {
        while (!stopped) {
          try {
            const { status, headers, body } = await get();
            if (status === 200) assert.equal((JSON.parse(body) as { kind: string }).kind, 'NamespaceList');
            if (status === 429) assert.equal(headers['retry-after'], '5');
            note(String(status));
            if (status === 429) return;
          } catch (error) {
            note((error as Error).message.startsWith('cut') ? 'cut' : 'refused');
            return;
          }
        }
      };
      const sessions = Array.from({ length: 4 }, () => connect(server));
      const loads = [
        ...sessions.flatMap((session) => [1, 2, 3].map(() => load(() => get2(session, '/api/v1/namespaces')))),
        ...[1, 2].map(() => load(() => get1(server, '/api/v1/namespaces'))),
      ];
      const watching = connect(server);
      const watch = watching.request({ ':path': '/api/v1/namespaces?watch=true' });
      const watchEnded = new Promise<string>((resolve) => {
        watch.on('error', (error) => resolve(`cut: ${error.message}`));
        watch.on('end', () => resolve('in good order'));
        watch.resume();
      });
      await new Promise((resolve) => watch.on('response', resolve));
      while (outcomes.length < 2 * loads.length) await get1(server, '/livez');
      // Draining lasts as long as this request, whose body comes only when another has got 429.
      const holding = connect(server);
      const held = holding.request({
        ':method': 'POST',
        ':path': '/api/v1/namespaces?dryRun=All',
        'content-type': 'application/json',
      });
      const heldStatus = new Promise<number>((resolve) => {
        held.on('response', (headers) => resolve(Number(headers[':status'])));
      });
      held.resume();
      held.write('{"metadata":');

      signalledMs = performance.now();
      server.process.kill('SIGTERM');
      while ((await get1(server, '/readyz')).status === 200) continue;
      const notReady = await get1(server, '/readyz');
      assert.equal(notReady.status, 500);
      assert.ok(notReady.body.endsWith('[-]shutdown failed: reason withheld\nreadyz check failed\n'), notReady.body);
      assert.equal((await get1(server, '/healthz')).status, 200);
      assert.equal((await get1(server, '/livez')).status, 200);

      await Promise.race([sent429, server.exited]);
      held.end('{"name":"held"}}');
      assert.equal(await heldStatus, 201);

      assert.equal(await server.exited, 0);
      stopped = true;
      await Promise.all(loads);
      for (const session of [...sessions, watching, holding]) session.destroy();

      assert.equal(await watchEnded, 'in good order');
      assert.deepEqual(
        outcomes.filter(({ what }) => what === 'cut'),
        [],
      );
      const early = outcomes.filter(({ atMs }) => atMs < DELAY_MS - 50);
      assert.deepEqual([...new Set(early.map(({ what }) => what))], ['200']);
      assert.ok(
        early.some(({ atMs }) => atMs > 0),
        'requests were served after the signal',
      );
      assert.ok(
        outcomes.some(({ what }) => what === '429'),
        'new requests got 429',
      );
      const events = new Map<string, string[]>();
      for (const [, pid = '', name = ''] of server.log().matchAll(/^\S+ \S+ +(\d+) .*shutdown event" name="(\w+)"/gm)) {
        events.set(pid, [...(events.get(pid) ?? []), name]);
      }
      assert.equal(events.size, workers);
      for (const inOrder of events.values()) assert.deepEqual(inOrder, SHUTDOWN_EVENTS);
    } finally {
      await server.stop();
    }
  });
}

/** A watch over HTTP/1.1 that has begun; how it ends. */
function watch1(server: Server): Promise<{ readonly ended: Promise<string> }> {
  const options = { host: '127.0.0.1', port: server.port, agent: false as const, ...server.tls };
  return new Promise((resolve, reject) => {
    https
      .get({ ...options, path: '/api/v1/namespaces?watch=true' }, (response) => {
        const ended = new Promise<string>((end) => {
          response.on('close', () => end(response.complete ? 'whole' : 'cut'));
          response.on('error', () => undefined).resume();
        });
        resolve({ ended });
      })
      .on('error', reject);
  });
}

/** A watch over HTTP/2 that has begun; how it ends. */
async function watch2(session: http2.ClientHttp2Session): Promise<{ readonly ended: Promise<string> }> {
  const stream = session.request({ ':path': '/api/v1/namespaces?watch=true' });
  let last = 'cut';
  const ended = new Promise<string>((resolve) => {
    stream.on('end', () => (last = 'whole'));
    stream.on('close', () => resolve(stream.rstCode === http2.constants.NGHTTP2_NO_ERROR ? last : 'reset'));
    stream.on('error', () => undefined).resume();
  });
  await new Promise((resolve) => stream.on('response', resolve));
  return { ended };
}

test('without a grace period watches end whole at once, before what is in flight, and the port is closed', async () => {
  const server = await start();
  try {
    await ready(server);
    const session = connect(server);
    const goaway = new Promise<number>((resolve) => session.on('goaway', resolve));
    const watches = [await watch1(server), await watch2(session), await watch2(session)];
    const holding = connect(server);
    const headers = { ':method': 'POST', ':path': '/api/v1/namespaces', 'content-type': 'application/json' };
    const held = holding.request(headers);
    const heldStatus = new Promise<number>((resolve) => {
      held.on('response', (received) => resolve(Number(received[':status'])));
    });
    held.resume();
    held.write('{"metadata":');
    // What was sent before this answer has arrived.
    await get2(holding, '/version');

    server.process.kill('SIGTERM');
    assert.deepEqual(await Promise.all(watches.map(({ ended }) => ended)), ['whole', 'whole', 'whole']);
    assert.equal(await goaway, http2.constants.NGHTTP2_NO_ERROR);
    await assert.rejects(get1(server, '/version'), { code: 'ECONNREFUSED' });
    held.end('{"name":"held"}}');
    assert.equal(await heldStatus, 201);
    assert.equal(await server.exited, 0);
    for (const each of [session, holding]) each.destroy();
  } finally {
    await server.stop();
  }
});

test('the second signal ends the process at once', async () => {
  const server = await start('--shutdown-delay-duration=60s');
  try {
    server.process.kill('SIGINT');
    await pollUntil(() => server.log().includes('ShutdownInitiated'));
    server.process.kill('SIGINT');
    assert.equal(await server.exited, 1);
  } finally {
    await server.stop();
  }
});
