// Sends requests of the attack kit to the real program and judges its longest event loop task while it serves each.
import assert from 'node:assert/strict';
import https from 'node:https';
import path from 'node:path';
import { urlToHttpOptions } from 'node:url';
import { after, before } from 'node:test';
import { pollUntil } from '../../src/lib/testing/poll-until.js';
import { longestTask, longestUntilIdle } from '../support/longest-task.js';
import { startTestServer, type TestServer } from '../support/server.js';
import type { AttackRequest } from './worst-bodies.js';

/** How large the bodies are made. */
export const BYTES = Number(process.env['BINNACLE_STALL_BYTES'] ?? 20_000);
const root = process.env['BINNACLE_ROOT'] ?? process.cwd();
const TRIES = 3;

let server: TestServer;
const agent = new https.Agent({ keepAlive: true, rejectUnauthorized: false });

before(async () => {
  server = await startTestServer({
    adminToken: 'attack',
    flags: ['--feature-gates=CBORServingAndStorage=true'],
    meterTasks: path.join(root, 'test', 'support', 'task-meter.cjs'),
  });
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } };
  await server.request('POST', '/api/v1/namespaces/default/serviceaccounts', account);
});

after(async () => {
  agent.destroy();
  await server.stop();
});

/** Longest tasks by attack and kind of request. */
const table = new Map<string, Record<string, number>>();

after(() => {
  if (BYTES > 100_000) console.table(Object.fromEntries(table));
});

/** What is long is long each time: a full collection may have come in between, or other work of the machine. */
export async function allShort(name: string, requests: readonly AttackRequest[], longestMs: number): Promise<void> {
  let long = await tooLong(name, requests, longestMs);
  for (let tried = 1; tried < TRIES && long.size > 0; tried++) {
    const again = await tooLong(name, requests, longestMs);
    long = new Map([...again].filter(([i]) => long.has(i)));
  }
  assert.deepEqual([...long.values()], []);
}

/** What there is to say of the requests with longer tasks, by their places. */
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
    await longestTask(server.folder);
    const { task, ...sent } = await judged(request);
    status = sent.status;
    const form = request.contentType ?? request.headers?.['accept']?.slice(0, 50) ?? '';
    const line = `${name}: ${request.method} ${request.path.slice(0, 90)} ${form} ${status}: ${Math.round(task.longestMs)} of ${Math.round(task.totalMs)} ms`;
    console.log(line);
    const row = table.get(name) ?? {};
    table.set(name, row);
    const column = `${request.method} ${form.replace('application/', '').slice(0, 16)}`.trim();
    row[column] = Math.max(row[column] ?? 0, Math.round(task.longestMs));
    if (task.longestMs > longestMs) long.set(i, line);
  }
  return long;
}

interface Judged {
  readonly status: number | string;
  readonly task: { readonly longestMs: number; readonly totalMs: number };
}

async function judged(request: AttackRequest): Promise<Judged> {
  if (request.method === 'PAUSE') return { status: 'paused', task: await longestUntilIdle(server.folder) };
  if (request.method === 'WATCH') return watched(request);
  const status = await send(request);
  return { status, task: await longestTask(server.folder) };
}

async function send(request: AttackRequest): Promise<number | string> {
  if (request.method === 'WAIT') {
    await pollUntil(async () => (await exchange({ method: 'GET', path: request.path })).status === 200);
    return 'served';
  }
  if (request.method.startsWith('FILL')) return filled(request, Number(request.method.split(' ')[1]));
  if (request.method !== 'PUT') {
    const { status } = await exchange(request);
    if (request.method === 'DELETE') await goneFrom(request.path);
    return status;
  }
  const current = JSON.parse((await exchange({ method: 'GET', path: request.path })).text) as Versioned;
  const object = JSON.parse(String(request.body)) as Versioned;
  object.metadata.resourceVersion = current.metadata.resourceVersion ?? '';
  await longestTask(server.folder);
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

/** What is large takes its time to be made, partly by a worker. */
const IDLE_REPORTS = BYTES > 100_000 ? 100 : 10;

/** Until nothing comes any more. */
function watched(request: AttackRequest): Promise<Judged> {
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
      response.on('data', (piece: Buffer) => (bytes += piece.length));
      response.on('error', () => undefined);
      void longestUntilIdle(server.folder, IDLE_REPORTS).then((task) => {
        call.destroy();
        resolve({ status: `${response.statusCode} ${bytes} bytes`, task });
      }, reject);
    });
    call.on('error', reject);
    call.end();
  });
}

/** A definition goes when its resources have gone. */
async function goneFrom(to: string): Promise<void> {
  if (!to.includes('customresourcedefinitions')) return;
  await pollUntil(async () => (await exchange({ method: 'GET', path: to })).status === 404);
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
