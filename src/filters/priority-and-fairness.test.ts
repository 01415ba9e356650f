import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Classified, FlowControl } from '../flowcontrol/flow-control.js';
import { AuditTrail } from '../audit/trail.js';
import type { HttpResponse } from '../lib/http/http.js';
import type { TicketParts } from '../flowcontrol/ticket.js';
import type { Filter } from './exchange.js';
import { priorityAndFairness } from './priority-and-fairness.js';
import { answer, testExchange } from './testing.js';

const filterOf = (schema: Classified): Filter =>
  priorityAndFairness({
    flowControl: { classify: () => schema } as unknown as FlowControl,
    stored: () => undefined,
    listQuery: () => undefined,
    sizeBased: false,
    requestTimeoutMs: 60_000,
    observe: () => undefined,
    observeWaiting: () => undefined,
    observePhase: () => undefined,
    onRejected: () => undefined,
  });

test('how long it took to find a seat is noted on the trail of who is not exempt', () => {
  for (const exempt of [false, true]) {
    const level = {
      uid: '',
      exempt,
      ticket: () => ({ arrivedMs: performance.now() - 3 }),
      enter: () => 'execute',
      finish: () => 0,
    };
    const metrics = { watchCount: () => undefined };
    const filter = filterOf({
      uid: '',
      name: 'all',
      distinguisherOf: () => '',
      metrics,
      level,
    } as unknown as Classified);
    const exchange = testExchange('GET', '/version');
    exchange.user = { name: 'alice', groups: [] };
    exchange.trail = new AuditTrail();
    void filter(exchange, () => answer());
    assert.equal(exchange.trail.seatedMs >= 3, !exempt);
  }
});

test('queued requests do not all start in the tick in which seats become free', async (t) => {
  // Only the requests move the clock: time that other processes take is not theirs.
  let nowMs = performance.now();
  t.mock.method(performance, 'now', () => nowMs);
  const starts: (() => void)[] = [];
  const schema = {
    uid: '',
    name: 'all',
    distinguisherOf: () => '',
    metrics: { watchCount: () => undefined },
    level: {
      uid: '',
      maxSeats: 10,
      ticket: ({ start }: TicketParts<unknown>) => {
        starts.push(start);
        return {};
      },
      enter: () => 'wait',
      finish: () => 0,
      leave: () => undefined,
      started: () => undefined,
    },
  } as unknown as Classified;
  const filter = filterOf(schema);
  let begun = 0;
  const slow = (): HttpResponse => {
    begun++;
    nowMs += 6;
    return answer();
  };
  const answers = Array.from({ length: 10 }, () => {
    const exchange = testExchange('GET', '/api/v1/namespaces/n/pods/a');
    exchange.user = { name: 'alice', groups: [] };
    return Promise.resolve(filter(exchange, slow));
  });
  for (const start of starts) start();
  assert.equal(begun, 0);
  let most = 0;
  for (let before = 0; begun < 10; before = begun) {
    await new Promise((resolve) => setImmediate(resolve));
    most = Math.max(most, begun - before);
  }
  assert.ok(most <= 2, `${most} in one tick`);
  for (const { status } of await Promise.all(answers)) assert.equal(status, 200);
});

test('before a request is refused other processes are asked for seats, once', async () => {
  for (const [outcomes, status] of [
    [['concurrency-limit', 'execute'], 200],
    [['concurrency-limit', 'concurrency-limit'], 429],
  ] as const) {
    const left: string[] = [...outcomes];
    const refused: string[] = [];
    let asked = 0;
    const level = {
      uid: '',
      ticket: () => ({}),
      enter: () => left.shift(),
      requestSeats: () => Promise.resolve(void asked++),
      refuse: (_ticket: unknown, why: string) => refused.push(why),
      retryAfterSeconds: () => 1,
      finish: () => 0,
    };
    const metrics = { watchCount: () => undefined };
    const schema = { uid: '', name: 'all', distinguisherOf: () => '', metrics, level };
    const exchange = testExchange('GET', '/version');
    exchange.user = { name: 'alice', groups: [] };
    const response = await filterOf(schema as unknown as Classified)(exchange, () => answer());
    assert.deepEqual([response.status, asked, refused.length], [status, 1, status === 429 ? 1 : 0]);
  }
});
