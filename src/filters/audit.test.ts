import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AuditBackend } from '../audit/backend.js';
import { type AuditEvent, encodeEvent } from '../audit/event.js';
import { createAuditMetrics } from '../audit/metrics.js';
import { compilePolicy } from '../audit/policy.js';
import type { HttpResponse, ResponseSink } from '../lib/http/http.js';
import type { MaybePromise } from '../lib/async/maybe-promise.js';
import { MetricRegistry } from '../lib/telemetry/metrics.js';
import type { UserInfo } from '../machinery/user.js';
import type { Policy } from '../schema/generated/audit.v1.js';
import { type Audit, audit, auditRefusal, beginTrail } from './audit.js';
import type { Exchange, Handler } from './exchange.js';
import { answer, testExchange } from './testing.js';

const ALICE: UserInfo = { name: 'alice', groups: ['dev'], extra: { b: ['2'], a: ['1'] } };
const POD = '/api/v1/namespaces/default/pods/p';
const HIDDEN = { form: 'object' as const };

interface Recorded {
  stage: string;
  objectRef?: object;
  user: object;
  impersonatedUser?: object;
  responseStatus?: { code: number; message?: string };
  requestObject?: unknown;
  responseObject?: unknown;
  annotations?: Record<string, string>;
}

function recorder(
  level: string,
  over: Partial<Policy> = {},
  store: () => MaybePromise<boolean> = () => true,
  isWaitedFor = true,
) {
  const events: Recorded[] = [];
  const calls: number[] = [];
  const sink: AuditBackend = {
    isWaitedFor,
    process(made: readonly AuditEvent[]) {
      calls.push(made.length);
      for (const event of made) {
        let text = '';
        encodeEvent(event, { head: '{', tail: '}' }, (piece) => (text += String(piece)));
        events.push(JSON.parse(text) as Recorded);
      }
      return store();
    },
    close: () => Promise.resolve(),
  };
  const registry = new MetricRegistry();
  const policy = compilePolicy({ metadata: {}, rules: [{ level }], ...over });
  const options: Audit = { policy, sink, metrics: createAuditMetrics(registry) };
  const run = (exchange: Exchange, handler: Handler): Promise<HttpResponse> => {
    exchange.user = ALICE;
    const filter = audit(options);
    return Promise.resolve(beginTrail(exchange, (begun) => filter(begun, handler)));
  };
  return { events, calls, run, options, registry, stages: () => events.map(({ stage }) => stage) };
}

const written = (): ResponseSink & { text: string } => ({
  text: '',
  write(chunk) {
    this.text += String(chunk);
    return true;
  },
  drained: () => Promise.resolve(),
  pendingBytes: 0,
  signal: new AbortController().signal,
});

test('a request leaves an event before it is served and one after, with what was noted meanwhile', async () => {
  const { events, run } = recorder('Metadata');
  const exchange = testExchange('GET', POD, { headers: { 'user-agent': 'grüße'.normalize('NFC') } });
  exchange.auditId = 'id';
  await run(exchange, (served) => {
    assert.equal(events.length, 1);
    served.annotate('z', '1');
    served.annotate('a', 'first');
    served.annotate('a', 'second');
    served.annotate('big', 'x', 'Request');
    return { ...answer('{"data":"secret"}'), object: HIDDEN };
  });
  const [received, complete] = events;
  assert.equal(received?.annotations, undefined);
  assert.deepEqual(Object.entries(complete?.annotations ?? {}), [
    ['a', 'first'],
    ['z', '1'],
  ]);
  assert.deepEqual(complete?.user, { username: 'alice', groups: ['dev'], extra: { a: ['1'], b: ['2'] } });
  assert.deepEqual(complete?.objectRef, { resource: 'pods', namespace: 'default', name: 'p', apiVersion: 'v1' });
  assert.deepEqual(complete?.responseStatus, { metadata: {}, code: 200 });
  assert.ok(!JSON.stringify(events).includes('secret'));
});

test('a path that names no resource refers to none', async () => {
  const { events, run } = recorder('Metadata');
  await run(testExchange('GET', '/api/v1//namespaces/default/pods'), () => answer('{}'));
  assert.ok(!('resource' in (events[0]?.objectRef ?? { resource: '' })), JSON.stringify(events[0]?.objectRef));
});

test('at RequestResponse the answer is there as it went out; a body that is no object is not', async () => {
  const { events, run } = recorder('RequestResponse');
  await run(testExchange('GET', POD), () => ({ ...answer('{"kind":"Pod"}\n'), object: HIDDEN }));
  assert.deepEqual(events[1]?.responseObject, { kind: 'Pod' });
  await run(testExchange('GET', '/version'), () => answer('{"major":"1"}'));
  assert.equal(events[3]?.responseObject, undefined);
});

test('a long refusal says in an event what a short one says', async () => {
  const { events, run } = recorder('Metadata');
  for (const characters of [10, 100_000]) {
    const said = { status: 'Failure', message: 'é'.repeat(characters), reason: 'Invalid', details: { name: 'p' } };
    const body = JSON.stringify({ kind: 'Status', apiVersion: 'v1', metadata: {}, ...said, code: 422 });
    await run(testExchange('POST', POD), () => ({ ...answer(`${body}\n`), status: 422, object: { form: 'status' } }));
    assert.deepEqual(events.at(-1)?.responseStatus, { metadata: {}, ...said, code: 422 });
  }
});

test('what has to be made for the record is waited for, and its managed fields are cut out large or small', async () => {
  for (const count of [1, 10_000]) {
    const { events, run } = recorder('RequestResponse', { omitManagedFields: true });
    const managedFields = Array.from({ length: count }, (_, i) => ({ manager: `m${i}` }));
    const json = Buffer.from(JSON.stringify({ metadata: { name: 'p', managedFields }, data: {} }));
    const object = { form: 'object' as const, json: () => Promise.resolve(json) };
    await run(testExchange('GET', POD), () => ({ ...answer('protobuf'), object }));
    assert.deepEqual(events.at(-1)?.responseObject, { metadata: { name: 'p' }, data: {} });
  }
});

test('an object that was sent names what its path left open, and is kept as it was then', async () => {
  for (const level of ['Metadata', 'Request']) {
    const { events, run } = recorder(level);
    await run(testExchange('POST', '/api/v1/namespaces/default/pods'), ({ trail }) => {
      const object = { metadata: { name: 'p', uid: 'u', resourceVersion: '7' }, spec: 'sent' };
      trail?.requestObject(object, JSON.stringify);
      object.spec = 'changed';
      return answer();
    });
    const [received, complete] = events;
    assert.ok(!('name' in (received?.objectRef ?? {})));
    const { name, uid, resourceVersion } = (complete?.objectRef ?? {}) as Record<string, string>;
    assert.deepEqual([name, uid, resourceVersion], ['p', 'u', '7']);
    assert.equal(
      (complete?.requestObject as { spec?: string } | undefined)?.spec,
      level === 'Request' ? 'sent' : undefined,
    );
  }
});

test('a patch is kept whatever it is written in', async () => {
  const { events, run } = recorder('Request');
  for (const patch of ['{ "a":\n 12345678901234567890 }', 'a: [1]\n', '{"a":']) {
    await run(testExchange('PATCH', POD), ({ trail }) => {
      trail?.requestPatch(Buffer.from(patch));
      return answer();
    });
  }
  const kept = events.filter(({ stage }) => stage === 'ResponseComplete').map(({ requestObject }) => requestObject);
  assert.deepEqual(kept.slice(1), [{ a: [1] }, '{"a":']);
});

test('a watch leaves three events, the last when it ends', async () => {
  const { run, stages, events } = recorder('Metadata');
  const response = await run(testExchange('GET', '/api/v1/pods?watch=1'), ({ trail }) => {
    trail?.annotateAtEnd('late', '1');
    trail?.annotate('soon', '1');
    return { status: 200, headers: {}, body: { stream: async (sink) => void sink.write('event') } };
  });
  assert.deepEqual(stages(), ['RequestReceived', 'ResponseStarted']);
  const sink = written();
  await (response.body as { stream(sink: ResponseSink): Promise<void> }).stream(sink);
  assert.deepEqual([sink.text, stages()], ['event', ['RequestReceived', 'ResponseStarted', 'ResponseComplete']]);
  assert.deepEqual([events[1]?.annotations, events[2]?.annotations], [{ soon: '1' }, { late: '1', soon: '1' }]);
});

test('what nobody expected leaves an event of its own and stays what it was', async () => {
  const { run, events, stages } = recorder('Metadata');
  for (const handler of [
    () => {
      throw new Error('boom');
    },
    () => Promise.reject(new Error('boom')),
  ] as Handler[]) {
    await assert.rejects(run(testExchange('GET', POD), handler), /boom/);
  }
  assert.deepEqual(stages(), ['RequestReceived', 'Panic', 'RequestReceived', 'Panic']);
  assert.deepEqual(
    [events[1]?.responseStatus?.code, events[1]?.responseStatus?.message],
    [500, "APIServer panic'd: boom"],
  );
});

test('a first event that cannot be stored refuses the request; a later one does not', async () => {
  const { run, registry } = recorder('Metadata', {}, () => Promise.resolve(false));
  let handled = 0;
  const response = await run(testExchange('GET', '/version?a=b'), () => ((handled += 1), answer()));
  assert.deepEqual([response.status, handled], [500, 0]);
  assert.equal(response.body, 'Internal Server Error: "/version?a=b": failed to store audit event\n');
  assert.match(registry.text(), /apiserver_audit_requests_rejected_total 1/);
  let calls = 0;
  const late = recorder('Metadata', {}, () => ++calls === 1);
  assert.equal((await late.run(testExchange('GET', '/version'), () => answer())).status, 200);
});

test('stages that are left out are not made, and at None nobody listens', async () => {
  const { run, stages } = recorder('Metadata', { omitStages: ['RequestReceived'] });
  await run(testExchange('GET', POD), () => answer());
  assert.deepEqual(stages(), ['ResponseComplete']);
  const none = recorder('None');
  await none.run(testExchange('GET', POD), (exchange) => {
    assert.equal(exchange.trail, undefined);
    return answer();
  });
  assert.deepEqual(none.events, []);
});

test('where nobody waits for events, those of an answer at hand go together, any others as soon as they are there', async () => {
  const recorded = async (handler: Handler, over: Partial<Policy> = {}) => {
    const { run, stages, calls, registry } = recorder('Metadata', over, () => true, false);
    await run(testExchange('GET', POD), handler).catch(() => undefined);
    assert.match(registry.text(), new RegExp(`apiserver_audit_event_total ${stages().length}\\b`));
    return [stages(), calls];
  };
  assert.deepEqual(await recorded(() => answer()), [['RequestReceived', 'ResponseComplete'], [2]]);
  assert.deepEqual(await recorded(() => Promise.resolve(answer())), [
    ['RequestReceived', 'ResponseComplete'],
    [1, 1],
  ]);
  const streamed = { status: 200, headers: {}, body: { stream: () => Promise.resolve() } };
  assert.deepEqual(await recorded(() => streamed), [['RequestReceived'], [1]]);
  assert.deepEqual(await recorded(() => answer(), { omitStages: ['ResponseComplete'] }), [['RequestReceived'], [1]]);
  const failing: Handler = () => {
    throw new Error('boom');
  };
  assert.deepEqual(await recorded(failing), [
    ['RequestReceived', 'Panic'],
    [1, 1],
  ]);
  const { run, stages } = recorder('Metadata', {}, () => true, false);
  await run(testExchange('GET', POD), () => {
    assert.deepEqual(stages(), []);
    return new Promise((resolve) =>
      setImmediate(() => {
        assert.deepEqual(stages(), ['RequestReceived']);
        resolve(answer());
      }),
    );
  });
});

test('rules see the authenticated user, events also the impersonated one', async () => {
  const { run, events } = recorder('', { rules: [{ level: 'Metadata', users: ['alice'] }] });
  await run(testExchange('GET', POD), (exchange) => {
    exchange.impersonator = exchange.user;
    exchange.user = { name: 'bob', groups: [] };
    return answer();
  });
  assert.deepEqual(events[1]?.impersonatedUser, { username: 'bob' });
  assert.equal((events[1]?.user as { username?: string } | undefined)?.username, 'alice');
});

test('a refusal before authentication leaves one event, without a user', async () => {
  const { events, options } = recorder('RequestResponse');
  const exchange = testExchange('GET', POD);
  const body =
    '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Unauthorized","reason":"Unauthorized","code":401}\n';
  await beginTrail(exchange, (begun) =>
    auditRefusal(options, begun, { status: 401, headers: {}, body, object: { form: 'status' } }),
  );
  assert.equal(events.length, 1);
  assert.deepEqual(
    [events[0]?.stage, events[0]?.user, events[0]?.responseStatus?.message],
    ['ResponseStarted', {}, 'Unauthorized'],
  );
});

test('managed fields are left out of both objects where the policy says so', async () => {
  const { run, events } = recorder('RequestResponse', { omitManagedFields: true });
  await run(testExchange('POST', '/api/v1/namespaces/default/pods'), ({ trail }) => {
    trail?.requestObject({ metadata: { name: 'p', managedFields: [] } }, JSON.stringify);
    return { ...answer('{"metadata":{"name":"p","managedFields":[{}]}}'), object: HIDDEN };
  });
  const { requestObject, responseObject } = events[1] ?? {};
  assert.deepEqual([requestObject, responseObject], [{ metadata: { name: 'p' } }, { metadata: { name: 'p' } }]);
});

test('a request that took long says where its time went', async (t) => {
  const { run, events } = recorder('Metadata');
  for (const ms of [400, 600]) {
    const exchange = testExchange('GET', '/version');
    t.mock.method(performance, 'now', () => exchange.startedMs + ms);
    await run(exchange, ({ trail }) => {
      if (trail !== undefined) trail.authorizationMs = 250;
      exchange.spent('etcd', 20);
      exchange.spent('etcd', 30);
      return answer();
    });
    t.mock.restoreAll();
  }
  assert.equal(events[1]?.annotations, undefined);
  assert.deepEqual(events[3]?.annotations, {
    'apiserver.latency.k8s.io/authorization': '250ms',
    'apiserver.latency.k8s.io/etcd': '50ms',
    'apiserver.latency.k8s.io/total': '600ms',
  });
});

test('an id is kept as its bytes say', async () => {
  const { run, events } = recorder('Metadata');
  const exchange = testExchange('GET', '/version');
  exchange.auditId = Buffer.from('ünïque').toString('latin1');
  await run(exchange, () => answer());
  assert.equal((events[0] as unknown as { auditID: string }).auditID, 'ünïque');
});
