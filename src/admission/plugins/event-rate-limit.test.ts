import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refusal, testAttributes, type TestWrite } from '../test-attributes.js';
import { type EventLimit, eventRateLimit } from './event-rate-limit.js';

const event = (more: Partial<TestWrite> = {}, involved = 'pod'): TestWrite => ({
  resource: 'events',
  kind: 'Event',
  object: { metadata: { name: 'e' }, source: { component: 'c' }, involvedObject: { kind: 'Pod', name: involved } },
  ...more,
});
const limit = (type: EventLimit['type'], more: Partial<EventLimit> = {}): EventLimit => ({
  type,
  qps: 1,
  burst: 2,
  cacheSize: 10,
  ...more,
});

test('lets a burst pass, then so many a second', async () => {
  let nowMs = 0;
  const plugin = eventRateLimit([limit('Server')], () => nowMs);
  const say = () => refusal(plugin, testAttributes(event()));
  assert.deepEqual([await say(), await say()], [undefined, undefined]);
  assert.equal(await say(), 'Too many requests: limit reached on type Server for key ');
  nowMs = 1000;
  assert.equal(await say(), undefined);
  assert.match((await say()) ?? '', /limit reached/);
});

test('counts each namespace, user, or source and object on its own', async () => {
  const one = { burst: 1 };
  for (const [type, first, other] of [
    ['Namespace', event({ namespace: 'a' }), event({ namespace: 'b' })],
    ['User', event({ user: { name: 'a', groups: [] } }), event({ user: { name: 'b', groups: [] } })],
    ['SourceAndObject', event({}, 'a'), event({}, 'b')],
  ] as const) {
    const plugin = eventRateLimit([limit(type, one)], () => 0);
    const say = (write: TestWrite) => refusal(plugin, testAttributes(write));
    assert.deepEqual([await say(first), await say(other)], [undefined, undefined], type);
    assert.match((await say(first)) ?? '', new RegExp(`^Too many requests: limit reached on type ${type} for key `));
  }
});

test('reports every limit that is reached, and evicts the least recently used source', async () => {
  const plugin = eventRateLimit(
    [limit('Server', { burst: 3 }), limit('Namespace', { burst: 1, cacheSize: 1 })],
    () => 0,
  );
  const say = (namespace: string) => refusal(plugin, testAttributes(event({ namespace })));
  assert.deepEqual([await say('a'), await say('b'), await say('a')], [undefined, undefined, undefined]);
  assert.equal(
    await say('a'),
    'Too many requests: [limit reached on type Server for key , limit reached on type Namespace for key a]',
  );
});

test('is not for dry runs, nor for other kinds', async () => {
  const plugin = eventRateLimit([limit('Server', { burst: 1, qps: 1 })], () => 0);
  for (const write of [event({ dryRun: true }), { ...event(), resource: 'pods' }, event()]) {
    assert.equal(await refusal(plugin, testAttributes(write)), undefined);
  }
  assert.match((await refusal(plugin, testAttributes(event()))) ?? '', /limit reached/);
});
