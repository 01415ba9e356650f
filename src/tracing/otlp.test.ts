import assert from 'node:assert/strict';
import { test } from 'node:test';
import protobuf from 'protobufjs';
import { encodeSpans } from './otlp.js';
import type { RecordedSpan } from './recorded-span.js';
import { SCOPES } from './trace.js';
import { Tracer } from './tracer.js';

const { root: schema } = protobuf.parse(`syntax = "proto3";
  message Any { oneof value { string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4; } }
  message KeyValue { string key = 1; Any value = 2; }
  message Event { fixed64 time = 1; string name = 2; repeated KeyValue attributes = 3; }
  message Link { bytes trace_id = 1; bytes span_id = 2; string state = 3; fixed32 flags = 6; }
  message Status { string message = 2; int32 code = 3; }
  message Span { bytes trace_id = 1; bytes span_id = 2; string state = 3; bytes parent = 4; string name = 5; int32 kind = 6;
    fixed64 start = 7; fixed64 end = 8; repeated KeyValue attributes = 9; repeated Event events = 11; uint32 dropped = 12;
    repeated Link links = 13; Status status = 15; fixed32 flags = 16; }
  message Scope { string name = 1; }
  message ScopeSpans { Scope scope = 1; repeated Span spans = 2; }
  message Resource { repeated KeyValue attributes = 1; }
  message ResourceSpans { Resource resource = 1; repeated ScopeSpans scopes = 2; }
  message Request { repeated ResourceSpans resources = 1; }`);
const decode = (bytes: Buffer) => {
  const type = schema.lookupType('Request');
  return type.toObject(type.decode(bytes), { longs: String, bytes: Buffer }) as {
    resources: { resource: { attributes: unknown[] }; scopes: { scope: { name: string }; spans: Span[] }[] }[];
  };
};
interface Span {
  readonly [member: string]: unknown;
}

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';

function spansOf(make: (tracer: Tracer) => void): RecordedSpan[] {
  const spans: RecordedSpan[] = [];
  let nowMs = 1_700_000_000_000.25;
  make(new Tracer({ ratePerMillion: 0, onEnd: (span) => spans.push(span), nowMs: () => nowMs++ }));
  return spans;
}

test('spans are written as a collector reads them', () => {
  const spans = spansOf((tracer) => {
    const remote = { traceId: TRACE, spanId: PARENT, sampled: true, state: 'vendor=x' };
    const root = tracer.continued(remote, {
      name: 'GET',
      scope: SCOPES.http,
      kind: 'server',
      auditId: '',
      baggage: '',
    });
    const step = root.child('List', {
      text: 'söme',
      empty: '',
      count: 300,
      big: 2 ** 40,
      minus: -1,
      part: 0.5,
      yes: true,
    });
    step.event('done', { size: 1 });
    step.fail('no luck');
    step.end();
    root.end();
  });
  const [sent] = decode(encodeSpans({ 'service.name': 'apiserver' }, spans)).resources;
  assert.deepEqual(sent?.resource.attributes, [{ key: 'service.name', value: { stringValue: 'apiserver' } }]);
  const names = sent?.scopes.map(({ scope, spans: members }) => [scope.name, members.map(({ name }) => name)]) ?? [];
  assert.deepEqual(Object.fromEntries(names), { [SCOPES.http]: ['GET'], [SCOPES.steps]: ['List'] });
  const [list] = sent?.scopes.find(({ scope }) => scope.name === SCOPES.steps)?.spans ?? [];
  const [get] = sent?.scopes.find(({ scope }) => scope.name === SCOPES.http)?.spans ?? [];
  assert.deepEqual(get?.['parent'], Buffer.from(PARENT, 'hex'));
  assert.deepEqual(get?.['traceId'], Buffer.from(TRACE, 'hex'));
  assert.equal(get?.['state'], 'vendor=x');
  assert.equal(get?.['kind'], 2);
  assert.equal(get?.['flags'], 0x300);
  assert.equal(get?.['start'], '1700000000000250000');
  assert.equal(list?.['flags'], 0x100);
  assert.deepEqual(list?.['parent'], get?.['spanId']);
  assert.deepEqual(list?.['status'], { message: 'no luck', code: 2 });
  const attributes = (list?.['attributes'] ?? []) as { key: string; value: object }[];
  const values = Object.fromEntries(attributes.map(({ key, value }) => [key, value]));
  assert.deepEqual(values, {
    text: { stringValue: 'söme' },
    empty: { stringValue: '' },
    count: { intValue: '300' },
    big: { intValue: String(2 ** 40) },
    minus: { intValue: '-1' },
    part: { doubleValue: 0.5 },
    yes: { boolValue: true },
  });
  assert.deepEqual(list?.['events'], [
    { time: '1700000000002250000', name: 'done', attributes: [{ key: 'size', value: { intValue: '1' } }] },
  ]);
});

test('a trace that began here is linked to the one of a client who is not believed', () => {
  const spans = spansOf((tracer) => {
    const link = { traceId: TRACE, spanId: PARENT, sampled: true, state: '' };
    tracer.root({ name: 'GET', scope: SCOPES.http, kind: 'server', link, auditId: '', baggage: '' }).end();
  });
  const span = decode(encodeSpans({}, spans)).resources[0]?.scopes[0]?.spans[0];
  assert.equal(span?.['parent'], undefined);
  assert.deepEqual(span?.['links'], [
    { traceId: Buffer.from(TRACE, 'hex'), spanId: Buffer.from(PARENT, 'hex'), flags: 0x300 },
  ]);
});

test('a batch larger than the first buffer is written whole', () => {
  const spans = spansOf((tracer) => {
    for (let i = 0; i < 512; i++) {
      const birth = { name: `GET ${i}`, scope: SCOPES.http, kind: 'server', auditId: '', baggage: '' } as const;
      tracer.root({ ...birth, attributes: { url: 'x'.repeat(200) } }).end();
    }
  });
  const members = decode(encodeSpans({}, spans)).resources[0]?.scopes[0]?.spans ?? [];
  assert.equal(new Set(members.map(({ name }) => name)).size, 512);
});
