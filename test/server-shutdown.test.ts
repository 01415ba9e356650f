// runs-on: every-node
// The end of a server in both of its ways: what is in flight is answered whole.
import { silentLog, silentLogs } from '../src/lib/testing/test-log.js';
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http2 from 'node:http2';
import https from 'node:https';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { buildChain } from '../src/filters/chain.js';
import { createRequestMetrics } from '../src/filters/request-metrics.js';
import type { HttpResponse } from '../src/lib/http/http.js';
import { MetricRegistry } from '../src/lib/telemetry/metrics.js';
import { ensureAuthority, ensureServingCertificate } from '../src/server/listener/certificates.js';
import { Health } from '../src/server/lifecycle/health.js';
import { Lifecycle } from '../src/server/lifecycle/lifecycle.js';
import { PostStartHooks } from '../src/server/lifecycle/post-start-hooks.js';
import { type RunningServer, startServer } from '../src/server/server.js';
import { loadServingCertificates } from '../src/server/listener/serving-certificates.js';
import { pollUntil } from '../src/lib/testing/poll-until.js';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-shutdown-'));
const authority = ensureAuthority(folder, Date.now());
const names = { dnsNames: ['localhost'], ipAddresses: ['127.0.0.1'] };
const serving = ensureServingCertificate(folder, authority, names, Date.now());
const log = silentLog;
after(() => fs.rmSync(folder, { recursive: true }));

const PIECE = 'x'.repeat(50_000);
const PIECES = 10;

interface Gate {
  readonly server: RunningServer;
  readonly lifecycle: Lifecycle;
  /** Requests now waiting in the handler. */
  readonly waiting: () => number;
  readonly open: () => void;
}

/** Requests wait at a gate until it opens; /pieces then answers in ten pieces. */
async function serve(shutdownSendRetryAfter: boolean): Promise<Gate> {
  const lifecycle = new Lifecycle({
    shutdownDelayMs: 0,
    shutdownSendRetryAfter,
    shutdownWatchTerminationGracePeriodMs: 0,
    log,
  });
  const health = new Health({ livezGracePeriodMs: 0, log });
  let waiting = 0;
  let open = (): void => undefined;
  const gate = new Promise<void>((resolve) => (open = resolve));
  const user = { name: 'alice', groups: [] };
  const handler = buildChain(
    {
      logs: silentLogs,
      metrics: createRequestMetrics(new MetricRegistry()),
      draining: lifecycle,
      authenticator: { authenticate: () => Promise.resolve({ user }) },
      authorizer: {
        authorize: () => ({ decision: 'allow', reason: '' }),
        rulesFor: () => ({ resourceRules: [], nonResourceRules: [], incomplete: false }),
      },
      requestTimeoutMs: 10_000,
      maxRequestsInFlight: 0,
      maxMutatingRequestsInFlight: 0,
      corsAllowedOrigins: [],
      hstsDirectives: [],
      goawayChance: 0,
      shutdownSendRetryAfter,
    },
    async ({ request }): Promise<HttpResponse> => {
      waiting++;
      await gate;
      if (request.path !== '/pieces') return { status: 200, headers: {}, body: PIECE.repeat(PIECES) };
      const stream = async (sink: { write(text: string): boolean; drained(): Promise<void> }): Promise<void> => {
        for (let i = 0; i < PIECES; i++) if (!sink.write(PIECE)) await sink.drained();
      };
      return { status: 200, headers: {}, body: { stream } };
    },
  );
  const certificates = loadServingCertificates({ serving, log });
  const listener = { address: '127.0.0.1', port: 0, certificates, handler };
  const hooks = new PostStartHooks(health);
  const server = await startServer({ listener, lifecycle, health, hooks, logs: silentLogs });
  return { server, lifecycle, waiting: () => waiting, open: () => open() };
}

function get1(port: number, target: string, agent: https.Agent): Promise<[number, number]> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path: target, agent, ca: authority.certPem };
    const request = https.get(options, (response) => {
      let size = 0;
      response.on('data', (piece: Buffer) => (size += piece.length));
      response.on('error', reject);
      response.on('end', () => resolve([response.statusCode ?? 0, size]));
    });
    request.on('error', reject);
  });
}

function get2(session: http2.ClientHttp2Session, target: string): Promise<[number, number]> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ':path': target });
    let status = 0;
    let size = 0;
    stream.on('response', (headers) => (status = Number(headers[':status'])));
    stream.on('data', (piece: Buffer) => (size += piece.length));
    stream.on('error', reject);
    stream.on('end', () => resolve([status, size]));
  });
}

for (const sendRetryAfter of [true, false]) {
  test(`requests in flight are answered whole, ${sendRetryAfter ? 'new ones get 429' : 'the port closes at once'}`, async () => {
    const { server, lifecycle, waiting, open } = await serve(sendRetryAfter);
    const { port } = server.listener;
    const agent = new https.Agent({ keepAlive: true });
    const session = http2.connect(`https://127.0.0.1:${port}`, { ca: authority.certPem });
    const targets = ['/whole', '/pieces', '/whole', '/pieces'];
    const answers = [...targets.map((t) => get2(session, t)), ...targets.map((t) => get1(port, t, agent))];
    await pollUntil(() => waiting() === answers.length);

    const ended = server.shutdown();
    await pollUntil(() => lifecycle.phase === 'draining');
    const late = get1(port, '/whole', new https.Agent()).catch((error: NodeJS.ErrnoException) => error.code);
    if (sendRetryAfter) assert.equal(((await late) as [number, number])[0], 429);
    else assert.equal(await late, 'ECONNREFUSED');

    open();
    for (const answer of await Promise.all(answers)) assert.deepEqual(answer, [200, PIECE.length * PIECES]);
    await ended;
    assert.equal(lifecycle.phase, 'closed');
    agent.destroy();
    session.destroy();
  });
}
