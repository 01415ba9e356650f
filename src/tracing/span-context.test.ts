import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readBaggage, readSpanContext, traceHeaders } from './span-context.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';
const read = (traceparent: string, tracestate?: string) =>
  readSpanContext({ traceparent, tracestate, baggage: undefined });

test('a header that is no trace counts as none', () => {
  const wrong = [
    '',
    'rubbish',
    `00-${TRACE}-${SPAN}`,
    `00-${TRACE}-${SPAN}-01-more`,
    `00-${TRACE}-${SPAN}-01--`,
    `00-${TRACE}-${SPAN}-03`,
    `ff-${TRACE}-${SPAN}-01`,
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${TRACE.slice(1)}-${SPAN}-01`,
    `0x-${TRACE}-${SPAN}-01`,
  ];
  for (const header of wrong) assert.equal(read(header), undefined, header);
  assert.equal(readSpanContext({ traceparent: undefined, tracestate: 'a=b', baggage: 'c=d' }), undefined);
});

test('a trace is read with its flag and its state', () => {
  const context = { traceId: TRACE, spanId: SPAN, sampled: true, state: '' };
  assert.deepEqual(read(`00-${TRACE}-${SPAN}-01`), context);
  assert.deepEqual(read(`00-${TRACE}-${SPAN}-01-`), context);
  assert.deepEqual(read(`00-${TRACE}-${SPAN}-02`), { ...context, sampled: false });
  assert.deepEqual(read(`cc-${TRACE}-${SPAN}-01-what-the-future-will-be-like`), context);
  assert.equal(read(`00-${TRACE}-${SPAN}-01`, ' vendor=x,tenant@sys=y ')?.state, 'vendor=x,tenant@sys=y');
});

test('a state that cannot be read does not spoil the trace', () => {
  const many = Array.from({ length: 33 }, (_, i) => `k${i}=v`).join(',');
  for (const state of ['Vendor=x', 'a=1,a=2', 'a', 'a=\u007f', 'a=', many]) {
    assert.equal(read(`00-${TRACE}-${SPAN}-01`, state)?.state, '', state);
  }
});

test('a trace is propagated in the first version, whatever it came in', () => {
  const context = { traceId: TRACE, spanId: SPAN, sampled: false, state: 'a=b' };
  assert.deepEqual(traceHeaders(context, 'k=v'), {
    traceparent: `00-${TRACE}-${SPAN}-00`,
    tracestate: 'a=b',
    baggage: 'k=v',
  });
  assert.deepEqual(traceHeaders({ ...context, sampled: true, state: '' }, ''), {
    traceparent: `00-${TRACE}-${SPAN}-01`,
  });
});

test('baggage passes whole or not at all', () => {
  assert.equal(readBaggage('k=v, other=1;secret;level=2'), 'k=v,other=1;secret;level=2');
  for (const text of ['', 'k', 'k v=1', 'k="v"', 'k=v,', `k=${'x'.repeat(8192)}`, 'k=v\r\n']) {
    assert.equal(readBaggage(text), text === 'k=v\r\n' ? 'k=v' : '', JSON.stringify(text));
  }
  assert.equal(readBaggage(Array.from({ length: 181 }, (_, i) => `k${i}=v`).join(',')), '');
});
