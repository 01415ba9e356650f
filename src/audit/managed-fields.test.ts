import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { AnsweredForm } from '../lib/http/http.js';
import { runSync } from '../lib/scheduling/yield.js';
import { withoutManagedFields } from './managed-fields.js';

const cut = (text: string, form: AnsweredForm = 'object'): string =>
  runSync(withoutManagedFields(Buffer.from(text), form)).toString();

test('managed fields go wherever they stand among the members', () => {
  assert.equal(
    cut('{"metadata":{"name":"a","managedFields":[{"x":"]}"}]},"data":{}}'),
    '{"metadata":{"name":"a"},"data":{}}',
  );
  assert.equal(cut('{"metadata":{"managedFields":[],"name":"a"}}'), '{"metadata":{"name":"a"}}');
  assert.equal(cut('{"metadata":{"managedFields":[]}}'), '{"metadata":{}}');
  assert.equal(cut('{ "metadata" : { "managedFields" : [ ] , "a" : 1 } }'), '{ "metadata" : { "a" : 1 } }');
});

test('only those of the object itself, of a list its items, of a table its rows', () => {
  const elsewhere =
    '{"spec":{"metadata":{"managedFields":[1]}},"managedFields":2,"metadata":{"x":{"managedFields":3}}}';
  assert.equal(cut(elsewhere), elsewhere);
  const item = '{"metadata":{"managedFields":[1],"name":"a"}}';
  assert.equal(
    cut(`{"items":[${item},${item}],"x":1}`, 'list'),
    '{"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"a"}}],"x":1}',
  );
  assert.equal(cut(`{"items":[]}`, 'list'), '{"items":[]}');
  assert.equal(
    cut(`{"rows":[{"cells":["a"],"object":${item}},{"cells":[]}]}`, 'table'),
    '{"rows":[{"cells":["a"],"object":{"metadata":{"name":"a"}}},{"cells":[]}]}',
  );
  assert.equal(cut(`{"items":[${item}]}`), `{"items":[${item}]}`);
});

test('what is large is walked over in steps', () => {
  const managedFields = Array.from({ length: 40_000 }, (_, i) => ({ manager: `m${i}` }));
  const object = { metadata: { name: 'a', managedFields }, data: { a: 'b' } };
  const steps = withoutManagedFields(Buffer.from(JSON.stringify(object)), 'object');
  let count = 0;
  let step = steps.next();
  for (; step.done !== true; step = steps.next()) count++;
  assert.ok(count > 5, `${count}`);
  assert.equal(step.value.toString(), '{"metadata":{"name":"a"},"data":{"a":"b"}}');
});

test('what is left is the object without them, whatever else is in it', () => {
  const value = fc.dictionary(
    fc.constantFrom('metadata', 'managedFields', 'name', 'é"\\', 'items'),
    fc.jsonValue({ maxDepth: 4 }),
  );
  fc.assert(
    fc.property(value, value, (object, metadata) => {
      const whole = { ...(object as object), metadata };
      const { managedFields: _gone, ...rest } = metadata as { managedFields?: unknown };
      assert.deepEqual(
        JSON.parse(cut(JSON.stringify(whole))),
        JSON.parse(JSON.stringify({ ...whole, metadata: rest })),
      );
    }),
  );
});
