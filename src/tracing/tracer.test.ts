import assert from 'node:assert/strict';
import { test } from 'node:test';
import { passedOn } from './passed-on.js';
import type { RecordedSpan } from './recorded-span.js';
import { SCOPES } from './trace.js';
import { Tracer } from './tracer.js';

function tracerOf(ratePerMillion: number, draws: readonly number[] = []) {
  const spans: RecordedSpan[] = [];
  const left = [...draws];
  let count = 0;
  let nowMs = 1000;
  const tracer = new Tracer({
    ratePerMillion,
    onEnd: (span) => spans.push(span),
    random: () => left.shift() ?? 0.5,
    ids: { traceId: () => `t${++count}`, spanId: () => `s${++count}` },
    nowMs: () => nowMs++,
  });
  return { tracer, spans };
}

const ROOT = { name: 'GET', scope: SCOPES.http, kind: 'server', auditId: 'a-1', baggage: 'k=v' } as const;

test('as many traces begin as the rate says', () => {
  const { tracer } = tracerOf(1000, [0.0009, 0.001, 0.9]);
  assert.deepEqual([tracer.draw(), tracer.draw(), tracer.draw()], [true, false, false]);
  assert.equal(tracerOf(0, [0]).tracer.draw(), false);
  assert.equal(tracerOf(1_000_000, [0.999999999]).tracer.draw(), true);
});

test('a span is handed over once, when it ends, with what was noted until then', () => {
  const { tracer, spans } = tracerOf(1);
  const root = tracer.root(ROOT);
  const step = root.child('Get', { verb: 'GET' });
  step.event('About to write', { size: 3 });
  step.set({ more: true });
  step.fail('why');
  step.end();
  step.end();
  root.end();
  assert.deepEqual(
    spans.map((span) => span.birth.name),
    ['Get', 'GET'],
  );
  const [got] = spans;
  assert.equal(got?.parentId, root.id);
  assert.equal(got?.recording.traceId, root.recording.traceId);
  assert.deepEqual(got?.attributes, { verb: 'GET', more: true });
  assert.deepEqual(
    got?.events.map(({ name, attributes }) => ({ name, attributes })),
    [{ name: 'About to write', attributes: { size: 3 } }],
  );
  assert.equal(got?.failure, 'why');
  assert.ok((got?.endMs ?? 0) > (got?.startMs ?? 0));
  assert.equal(step.above, root);
  assert.equal(step.auditId, 'a-1');
});

test('a span keeps so many events, and counts those it lost', () => {
  const { tracer } = tracerOf(1);
  const span = tracer.root(ROOT);
  for (let i = 0; i < 130; i++) span.event(`e${i}`);
  assert.equal(span.events.length, 128);
  assert.equal(span.events[0]?.name, 'e2');
  assert.equal(span.droppedEvents, 2);
});

test('a call for recorded work propagates the span of the call', () => {
  const { tracer, spans } = tracerOf(1);
  const remote = { traceId: 'theirs', spanId: 'parent', sampled: true, state: 'vendor=x' };
  const root = tracer.continued(remote, ROOT);
  assert.equal(root.parentId, 'parent');
  const { headers, span } = root.calling('HTTP POST', SCOPES.http, () => ({ 'http.method': 'POST' }));
  span?.end();
  assert.deepEqual(headers, {
    traceparent: `00-theirs-${spans[0]?.id ?? ''}-01`,
    tracestate: 'vendor=x',
    baggage: 'k=v',
  });
  assert.equal(spans[0]?.birth.kind, 'client');
});

test('a call for unrecorded work propagates its trace, and that it is not sampled', () => {
  const { tracer, spans } = tracerOf(0);
  const attributes = (): never => assert.fail('nobody needs them');
  const trace = tracer.unrecorded({ traceId: 'theirs', spanId: 'p', sampled: false, state: 'a=b' }, '');
  const first = trace.calling('HTTP POST', SCOPES.http, attributes);
  const second = trace.calling('HTTP POST', SCOPES.http, attributes);
  assert.deepEqual(first, { headers: { traceparent: '00-theirs-s1-00', tracestate: 'a=b' }, span: undefined });
  assert.equal(second.headers['traceparent'], '00-theirs-s2-00');
  assert.match(
    tracer.unrecorded(undefined, 'k=v').calling('x', SCOPES.http, attributes).headers['baggage'] ?? '',
    /k=v/,
  );
  assert.equal(spans.length, 0);
});

test('the calls of the server itself begin traces of their own', () => {
  const { tracer, spans } = tracerOf(500_000, [0.9, 0.1]);
  const quiet = tracer.background.calling('HTTP POST', SCOPES.http, () => ({}));
  assert.match(quiet.headers['traceparent'] ?? '', /^00-t1-s\d+-00$/);
  const call = tracer.background.calling('HTTP POST', SCOPES.http, () => ({}));
  call.span?.end();
  assert.equal(spans[0]?.parentId, '');
  assert.match(call.headers['traceparent'] ?? '', /-01$/);
});

test('where nothing is traced, what the client sent goes on as it is', () => {
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const headersOf = (sent: { traceparent?: string; baggage?: string }) =>
    passedOn({ traceparent: sent.traceparent, tracestate: undefined, baggage: sent.baggage }).calling(
      'x',
      SCOPES.http,
      () => ({}),
    ).headers;
  assert.deepEqual(headersOf({ traceparent, baggage: 'k=v' }), { traceparent, baggage: 'k=v' });
  assert.deepEqual(headersOf({ traceparent: 'rubbish', baggage: 'k=v' }), { baggage: 'k=v' });
  assert.deepEqual(headersOf({}), {});
});
