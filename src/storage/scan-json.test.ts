import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memberAt, metadataHas, stringAt, textAt } from './scan-json.js';

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

test('a member is found under its path only, whatever stands in strings and deeper objects before it', () => {
  const object = json({
    kind: 'Pod',
    metadata: {
      name: 'a"},"spec":{"nodeName":"wrong',
      annotations: { 'back\\slash\\': '\\"', spec: '{"nodeName":"no"}' },
      labels: { app: 'ü' },
      owners: [{ spec: { nodeName: 'no' } }, [], {}, 1.5e3, null, true],
    },
    spec: { containers: [{ nodeName: 'no' }], nodeName: 'n"1', last: '' },
  });
  assert.equal(stringAt(object, ['spec', 'nodeName']), 'n"1');
  assert.equal(stringAt(object, ['spec', 'last']), '');
  assert.equal(textAt(object, ['metadata', 'labels']), '{"app":"ü"}');
});

test('a member is looked for as far as one that it does not come after, in the innermost object only', () => {
  const object = json({ last: 1, metadata: { labels: {}, last: 2, late: '3' } });
  assert.equal(textAt(object, ['metadata', 'labels'], 'last'), '{}');
  assert.equal(textAt(object, ['metadata', 'late'], 'last'), undefined);
  assert.equal(textAt(object, ['metadata', 'late']), '"3"');
  // What lies behind is not even read.
  assert.equal(textAt(Buffer.from('{"metadata":{"last":{"cut'), ['metadata', 'labels'], 'last'), undefined);
});

test('what is not there, or is no string, is empty', () => {
  const object = json({ a: { b: 1 }, c: [] });
  assert.equal(memberAt(object, ['a', 'x']), -1);
  assert.equal(memberAt(object, ['c', 'x']), -1);
  assert.equal(memberAt(object, ['x']), -1);
  assert.equal(stringAt(object, ['a', 'b']), '');
  assert.equal(textAt(object, ['a', 'b']), '1');
  assert.equal(textAt(object, ['x']), undefined);
  assert.equal(memberAt(json({}), ['x']), -1);
});

test('metadata has what is one of its own members, wherever that stands', () => {
  const links = ['ownerReferences', 'deletionTimestamp'];
  const has = (metadata: unknown, more: object = {}): boolean =>
    metadataHas(json({ kind: 'A', metadata, ...more }), links);
  assert.ok(has({ name: 'a', ownerReferences: [], managedFields: [{}] }));
  assert.ok(has({ managedFields: [{ time: '"}]' }], name: 'a', ownerReferences: [{ uid: '1' }] }));
  assert.ok(has({ deletionTimestamp: '2030-01-01T00:00:00Z' }));
  const elsewhere = { name: 'ownerReferences', labels: { deletionTimestamp: 'x' }, ownerReference: 1 };
  assert.ok(!has(elsewhere, { ownerReferences: [], spec: { metadata: { deletionTimestamp: 'x' } } }));
  assert.ok(!has({}));
  assert.ok(!has(null));
  assert.ok(!metadataHas(json({ kind: 'A' }), links));
});

test('JSON that ends too early is refused', () => {
  assert.throws(() => memberAt(Buffer.from('{"a":"b'), ['c']), /ends inside a string/);
  assert.throws(() => memberAt(Buffer.from('{"a":{"b":[1'), ['c']), /ends inside a value/);
});
