import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { AuditTrail } from '../audit/trail.js';
import type { HttpResponse, ResponseSink } from '../lib/http/http.js';
import { isStream } from '../lib/http/http.js';
import { StatusError } from '../machinery/status.js';
import type { Exchange } from './exchange.js';
import { EXEMPT_AGENT } from './exempt-agent.js';
import { faultInjection } from './fault-injection.js';
import { type Fault, type FaultRule, FaultRules } from './fault-rules.js';
import { answer, testExchange } from './testing.js';

const OWN_USER = 'system:apiserver';
const PODS = '/api/v1/namespaces/shop/pods';

const rule = (fault: Fault, over: Partial<FaultRule> = {}): FaultRule => ({
  fault,
  verbs: [],
  resources: [],
  namespaces: [],
  share: 1,
  times: Infinity,
  ...over,
});
const error = (code: 409 | 410 | 429 | 500 | 503 | 504, after = false): Fault => ({
  kind: 'error',
  code,
  retryAfterSeconds: 7,
  after,
});

/** The code that a request is answered with, by a handler that answers 200. */
async function codeOf(
  rules: FaultRules,
  exchange: Exchange,
  handled: () => HttpResponse = () => answer(),
): Promise<number> {
  const filter = faultInjection({ rules, versionBefore: (changes) => 1000 - changes }, OWN_USER);
  try {
    return (await filter(exchange, handled)).status;
  } catch (thrown) {
    if (thrown instanceof StatusError) return thrown.code;
    throw thrown;
  }
}

it('hits the requests that its rule is about, and no others', async () => {
  const rules = new FaultRules(
    [
      rule(error(503), {
        verbs: ['update', 'list'],
        resources: ['pods', 'deployments.apps/status'],
        namespaces: ['shop'],
      }),
    ],
    1,
  );
  const asked: readonly (readonly [string, string, number])[] = [
    ['PUT', `${PODS}/a`, 503],
    ['GET', PODS, 503],
    ['GET', `${PODS}/a`, 200],
    ['PUT', `${PODS}/a/status`, 200],
    ['PUT', '/apis/apps/v1/namespaces/shop/deployments/a/status', 503],
    ['PUT', '/apis/apps/v1/namespaces/shop/deployments/a', 200],
    ['PUT', '/api/v1/namespaces/other/pods/a', 200],
    ['GET', '/healthz', 200],
  ];
  for (const [method, target, code] of asked) {
    assert.equal(await codeOf(rules, testExchange(method, target)), code, `${method} ${target}`);
  }
  assert.deepEqual(rules.hits, [3]);
});

it('answers as a server does that is not well', async () => {
  const shown = async (code: Parameters<typeof error>[0], target = `${PODS}/a`): Promise<string> => {
    const filter = faultInjection({ rules: new FaultRules([rule(error(code))], 1), versionBefore: () => 0 }, OWN_USER);
    const thrown: unknown = await Promise.resolve(filter(testExchange('GET', target), () => answer())).catch(
      (e: unknown) => e,
    );
    assert.ok(thrown instanceof StatusError);
    return `${thrown.code} ${thrown.reason} ${thrown.details?.retryAfterSeconds ?? '-'} ${thrown.message}`;
  };
  assert.equal(
    await shown(409),
    '409 Conflict - Operation cannot be fulfilled on pods "a": the object has been modified; please apply your changes to the latest version and try again',
  );
  assert.match(await shown(410, `${PODS}?watch=1`), /^410 Expired - .*provided watch is too old\.$/);
  assert.match(await shown(429), /^429 TooManyRequests 7 /);
  assert.match(await shown(500), /^500 InternalError - Internal error occurred: /);
  assert.match(await shown(503), /^503 ServiceUnavailable - /);
  assert.match(await shown(504), /^504 Timeout 0 /);
});

it('chooses a share of the requests, the same for the same seed', async () => {
  const run = async (seed: number): Promise<string> => {
    const rules = new FaultRules([rule(error(500), { share: 0.3 })], seed);
    const codes: number[] = [];
    for (let i = 0; i < 1000; i++) codes.push(await codeOf(rules, testExchange('GET', PODS)));
    const hit = codes.filter((code) => code === 500).length;
    assert.ok(hit > 200 && hit < 400, String(hit));
    return codes.join();
  };
  assert.equal(await run(7), await run(7));
  assert.notEqual(await run(7), await run(8));
});

it('hits so often at most, and what the server and the setup of a test ask never', async () => {
  const rules = new FaultRules([rule(error(500), { times: 1 })], 1);
  const own = testExchange('GET', PODS);
  own.user = { name: OWN_USER, groups: [] };
  assert.equal(await codeOf(rules, own), 200);
  assert.equal(await codeOf(rules, testExchange('GET', PODS, { headers: { 'user-agent': EXEMPT_AGENT } })), 200);
  assert.equal(await codeOf(rules, testExchange('GET', PODS)), 500);
  assert.equal(await codeOf(rules, testExchange('GET', PODS)), 200);
});

it('loses the answer to a write that was done, and no answer that says no', async () => {
  const rules = new FaultRules([rule(error(504, true))], 1);
  let handled = 0;
  const handler = (status: number) => (): HttpResponse => {
    handled++;
    return { ...answer(), status };
  };
  assert.equal(await codeOf(rules, testExchange('POST', PODS), handler(201)), 504);
  assert.equal(await codeOf(rules, testExchange('POST', PODS), handler(409)), 409);
  assert.equal(handled, 2);
});

it('holds a slow request up for as long as its rule says, and no longer than its client waits', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const rules = new FaultRules([rule({ kind: 'slow', delayMs: 2000 })], 1);
  let handled = 0;
  const handler = (): HttpResponse => {
    handled++;
    return answer();
  };
  const answered = codeOf(rules, testExchange('POST', PODS), handler);
  context.mock.timers.tick(1999);
  await new Promise(setImmediate);
  assert.equal(handled, 0);
  context.mock.timers.tick(1);
  assert.equal(await answered, 200);
  const leaving = new AbortController();
  const left = codeOf(rules, testExchange('POST', PODS, { signal: leaving.signal }), handler);
  leaving.abort();
  await left;
});

it('lists the past only to whom any version will do', async () => {
  const rules = new FaultRules([rule({ kind: 'stale-list', behind: 10 })], 1);
  const queryOf = async (query: string): Promise<string> => {
    const exchange = testExchange('GET', `${PODS}${query}`);
    await codeOf(rules, exchange);
    return exchange.request.query.toString();
  };
  assert.equal(await queryOf('?resourceVersion=0&limit=5'), 'resourceVersion=990&limit=5&resourceVersionMatch=Exact');
  assert.equal(await queryOf('?limit=5'), 'limit=5');
  assert.equal(await queryOf('?resourceVersion=5'), 'resourceVersion=5');
});

it('notes what hit a request for its audit event', async () => {
  const notes = new Map<string, string>();
  const exchange = testExchange('PUT', `${PODS}/a`);
  exchange.trail = { annotate: (key: string, value: string) => void notes.set(key, value) } as unknown as AuditTrail;
  const rules = new FaultRules(
    [rule(error(500), { verbs: ['get'] }), rule({ kind: 'slow', delayMs: 0 }), rule(error(409))],
    1,
  );
  await codeOf(rules, exchange);
  assert.deepEqual([...notes], [['testing.binnacle/fault', 'rule 1: slow, rule 2: error 409']]);
});

/** What a watch under these faults sends, and whether it ended by itself before its source did. */
async function watchUnder(
  faults: readonly Fault[],
  pieces: readonly string[],
): Promise<{ sent: string[]; isDropped: boolean }> {
  const rules = new FaultRules(
    faults.map((fault) => rule(fault)),
    1,
  );
  const filter = faultInjection({ rules, versionBefore: () => 0 }, OWN_USER);
  let isDropped = false;
  const response = await filter(testExchange('GET', `${PODS}?watch=1`), () => ({
    status: 200,
    headers: {},
    body: {
      async stream(sink: ResponseSink) {
        for (const piece of pieces) if (!sink.write(piece)) await sink.drained();
        if (!faults.some(({ kind }) => kind === 'drop-watch')) return;
        await new Promise<void>((resolve) => sink.signal.addEventListener('abort', () => resolve()));
        isDropped = true;
      },
    },
  }));
  const sent: string[] = [];
  const sink = {
    write: (chunk: Buffer | string) => sent.push(chunk.toString()) > 0,
    drained: () => Promise.resolve(),
    pendingBytes: 0,
    signal: new AbortController().signal,
  };
  if (isStream(response.body)) await response.body.stream(sink);
  return { sent, isDropped };
}

it('drops a watch, and sends events late and in their order', async () => {
  assert.deepEqual(await watchUnder([{ kind: 'drop-watch', afterMs: 1 }], ['a', 'b']), {
    sent: ['a', 'b'],
    isDropped: true,
  });
  assert.deepEqual(await watchUnder([{ kind: 'delay-watch', delayMs: 1 }], ['a', 'b', 'c']), {
    sent: ['a', 'b', 'c'],
    isDropped: false,
  });
});
