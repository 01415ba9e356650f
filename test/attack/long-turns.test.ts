// runs: alone (the processor time of a server is judged)
// One thread serves everybody: no request may keep it for long in one turn. All attacks are tried in a small size, and
// those of FULL_SIZE half as large as a body may be, with a limit that a pass without turns between its parts does not
// keep; of their updates and applies only the first, for each takes seconds. By hand, with all bodies as large as they may
// be, all requests, and a table of the longest turns at the end:
//
//   BINNACLE_TURN_BYTES=2700000 BINNACLE_TURN_MS=100000 node tools/test.mjs test/attack/long-turns.test.ts
//
// BINNACLE_TURN_ONLY names some of the attacks, by a part of their names.
import assert from 'node:assert/strict';
import https from 'node:https';
import path from 'node:path';
import { urlToHttpOptions } from 'node:url';
import { after, before, test } from 'node:test';
import { longestTurn } from '../support/longest-turn.js';
import { startTestServer, type TestServer } from '../support/server.js';
import { LARGE_FORMS } from './large-forms.js';
import { ATTACKS, type AttackRequest } from './worst-bodies.js';

const BYTES = Number(process.env['BINNACLE_TURN_BYTES'] ?? 20_000);
const ONLY = process.env['BINNACLE_TURN_ONLY'] ?? '';
const LONGEST_MS = Number(process.env['BINNACLE_TURN_MS'] ?? 1_000);
const root = process.env['BINNACLE_ROOT'] ?? process.cwd();

const TRIES = 3;
const FULL_BYTES = 1_350_000;
/** Of the processor's time; the collector's and that of a busy machine's cold caches are in it. Most take 10 to 30. */
const FULL_LONGEST_MS = 400;
const FULL_SIZE: readonly string[] = [
  'config map of many short keys',
  'pod volumes and mounts',
  'custom resource: open map',
  'finalizers',
  'labels',
  'quotas and limits',
  'options of deletions',
  'evictions, bindings and tokens',
  'scales',
  'a role that is bound often',
  'claims to devices',
  'service selector',
  'JSON patch that copies what it has copied',
];

let server: TestServer;
const agent = new https.Agent({ keepAlive: true, rejectUnauthorized: false });

before(async () => {
  server = await startTestServer({
    adminToken: 'attack',
    flags: ['--feature-gates=CBORServingAndStorage=true'],
    meterTurns: path.join(root, 'test', 'support', 'turn-meter.cjs'),
  });
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } };
  await server.request('POST', '/api/v1/namespaces/default/serviceaccounts', account);
});

after(async () => {
  agent.destroy();
  await server.stop();
});

for (const { name, requests } of [...ATTACKS, ...LARGE_FORMS].filter((attack) => attack.name.includes(ONLY))) {
  test(`${name}: no turn is long`, { timeout: 600_000 }, async () => {
    await allShort(name, requests(BYTES), LONGEST_MS);
  });
}

for (const { name, requests } of ATTACKS.filter((attack) => FULL_SIZE.includes(attack.name))) {
  test(`${name}: no turn of a large write is long`, { timeout: 600_000, skip: BYTES > 100_000 }, async () => {
    const writes = withoutRepeats(requests(FULL_BYTES).filter(({ method }) => method !== 'GET'));
    await allShort(name, writes, FULL_LONGEST_MS);
  });
}

/** Further updates and applies of the same object take nearly the same way. */
function withoutRepeats(requests: readonly AttackRequest[]): AttackRequest[] {
  const known = new Set<string>();
  return requests.filter(({ method, path: to, contentType = '' }) => {
    if (method !== 'PUT' && !contentType.includes('apply')) return true;
    const kind = `${method} ${to.split('?')[0] ?? to}`;
    return !known.has(kind) && known.add(kind);
  });
}

/** Longest turns by attack and kind of request. */
const table = new Map<string, Record<string, number>>();

after(() => {
  if (BYTES > 100_000) console.table(Object.fromEntries(table));
});

/** What is long is long each time: a full collection may have come in between, or other work of the machine. */
async function allShort(name: string, requests: readonly AttackRequest[], longestMs: number): Promise<void> {
  let long = await tooLong(name, requests, longestMs);
  for (let tried = 1; tried < TRIES && long.size > 0; tried++) {
    const again = await tooLong(name, requests, longestMs);
    long = new Map([...again].filter(([i]) => long.has(i)));
  }
  assert.deepEqual([...long.values()], []);
}

/** What there is to say of the requests with longer turns, by their places. */
async function tooLong(
  name: string,
  requests: readonly AttackRequest[],
  longestMs: number,
): Promise<ReadonlyMap<number, string>> {
  const long = new Map<number, string>();
  let status: number | string = '';
  for (const [i, request] of requests.entries()) {
    // What a definition was refused for will not be served.
    if (request.method === 'WAIT' && Number(status) >= 400) continue;
    await longestTurn(server.folder);
    status = await send(request);
    const turn = await longestTurn(server.folder);
    const form = request.contentType ?? request.headers?.['accept']?.slice(0, 50) ?? '';
    const told = `${name}: ${request.method} ${request.path.slice(0, 90)} ${form} ${status}: ${Math.round(turn.longestMs)} of ${Math.round(turn.totalMs)} ms`;
    console.log(told);
    const row = table.get(name) ?? {};
    table.set(name, row);
    const column = `${request.method} ${form.replace('application/', '').slice(0, 16)}`.trim();
    row[column] = Math.max(row[column] ?? 0, Math.round(turn.longestMs));
    if (turn.longestMs > longestMs) long.set(i, told);
  }
  return long;
}

async function send(request: AttackRequest): Promise<number | string> {
  if (request.method === 'PAUSE') {
    await new Promise((resolve) => setTimeout(resolve, 500));
    return 'paused';
  }
  if (request.method === 'WAIT') {
    for (let i = 0; i < 100; i++) {
      if ((await exchange({ method: 'GET', path: request.path })).status === 200) return 'served';
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return 'never served';
  }
  if (request.method === 'WATCH') return watched(request);
  if (request.method.startsWith('FILL')) return filled(request, Number(request.method.split(' ')[1]));
  if (request.method !== 'PUT') {
    const { status } = await exchange(request);
    if (request.method === 'DELETE') await goneFrom(request.path);
    return status;
  }
  const current = JSON.parse((await exchange({ method: 'GET', path: request.path })).text) as Versioned;
  const object = JSON.parse(String(request.body)) as Versioned;
  object.metadata.resourceVersion = current.metadata.resourceVersion ?? '';
  await longestTurn(server.folder);
  return (await exchange({ ...request, body: JSON.stringify(object) })).status;
}

const FILLED_AT_ONCE = 50;

/** So many objects, each with a name of its own. */
async function filled({ path: to, body }: AttackRequest, count: number): Promise<string> {
  const object = JSON.parse(String(body)) as { metadata: { name: string } };
  for (let i = 0; i < count; i += FILLED_AT_ONCE) {
    const some = Array.from({ length: Math.min(FILLED_AT_ONCE, count - i) }, (_, j) =>
      exchange({
        method: 'POST',
        path: to,
        body: JSON.stringify({ ...object, metadata: { ...object.metadata, name: `${object.metadata.name}-${i + j}` } }),
      }),
    );
    await Promise.all(some);
  }
  return `${count} objects`;
}

/** What is large takes its time to be made. */
const QUIET_MS = BYTES > 100_000 ? 2_500 : 400;

/** Until nothing has come for a while. */
function watched(request: AttackRequest): Promise<string> {
  return new Promise((resolve, reject) => {
    let bytes = 0;
    const to = `${request.path}${request.path.includes('?') ? '&' : '?'}watch=true`;
    const call = https.request({
      ...urlToHttpOptions(new URL(server.url)),
      path: to,
      agent: false,
      rejectUnauthorized: false,
      headers: { authorization: 'Bearer attack', ...request.headers },
    });
    call.on('response', (response) => {
      const quiet = setTimeout(() => {
        call.destroy();
        resolve(`${response.statusCode} ${bytes} bytes`);
      }, QUIET_MS);
      response.on('data', (piece: Buffer) => {
        bytes += piece.length;
        quiet.refresh();
      });
      response.on('error', () => undefined);
    });
    call.on('error', reject);
    call.end();
  });
}

/** A definition goes when its resources have gone. */
async function goneFrom(to: string): Promise<void> {
  for (let i = 0; i < 100 && to.includes('customresourcedefinitions'); i++) {
    if ((await exchange({ method: 'GET', path: to })).status === 404) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

interface Versioned {
  readonly metadata: { resourceVersion?: string };
}

function exchange(request: AttackRequest): Promise<{ status: number; text: string }> {
  const { method, path: to, body, contentType = 'application/json', headers } = request;
  return new Promise((resolve, reject) => {
    const call = https.request({
      ...urlToHttpOptions(new URL(server.url)),
      path: to,
      method,
      agent,
      maxHeaderSize: 64 * 1024 * 1024,
      headers: {
        authorization: 'Bearer attack',
        ...(body !== undefined && { 'content-type': contentType }),
        ...headers,
      },
    });
    call.maxHeadersCount = 0;
    call.on('response', (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(pieces).toString() }));
      response.on('error', reject);
    });
    call.on('error', reject);
    call.end(body);
  });
}
