import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JsonCursor, JsonTextError } from './json-cursor.js';

const cursor = (text: string, limits = {}): JsonCursor =>
  new JsonCursor(Buffer.from(text), { maxValueBytes: 1000, maxDepth: 10, ...limits });

function membersOf(text: string, limits = {}): [string, unknown][] {
  const reader = cursor(text, limits);
  const members: [string, unknown][] = [];
  if (!reader.enter()) return members;
  for (let name = reader.nextName(); name !== undefined; name = reader.nextName()) members.push([name, reader.value()]);
  reader.end();
  return members;
}

test('members are found with their values, whatever their texts contain', () => {
  const value = { a: 'x"}\\', 'b\\"c': [1, { d: ['}', ']'] }], e: -1.5e3, f: true, g: null, h: '', i: {}, j: [] };
  assert.deepEqual(membersOf(JSON.stringify(value)), Object.entries(value));
  assert.deepEqual(membersOf(`\n${JSON.stringify(value, null, 2)}\n`), Object.entries(value));
  assert.deepEqual(membersOf('{}'), []);
  assert.deepEqual(membersOf('null'), []);
});

test('one can step into a member and goes on behind it', () => {
  const reader = cursor('{"a":{"b":{"c":1}},"d":2}');
  assert.ok(reader.enter());
  assert.equal(reader.nextName(), 'a');
  assert.ok(reader.enter());
  assert.equal(reader.nextName(), 'b');
  assert.deepEqual(reader.value(), { c: 1 });
  assert.equal(reader.nextName(), undefined);
  assert.equal(reader.nextName(), 'd');
  assert.equal(reader.value(), 2);
  assert.equal(reader.nextName(), undefined);
});

test('what is no JSON, too large or too deep is refused', () => {
  const garbage = ['', 'what?', '[]', '"a"', '{', '{"a"', '{"a":', '{"a":1', '{"a":1,}', '{"a":1 "b":2}', '{"a":}'];
  const broken = ['{"a":tru}', '{"a":[1}', '{a:1}', '{"a":"\\', '{}x', '{"a":]}', '{"a":{"b":1]}'];
  for (const text of [...garbage, ...broken]) assert.throws(() => membersOf(text), JsonTextError, text);
  assert.throws(() => membersOf(`{"a":${'['.repeat(11)}${']'.repeat(11)}}`), /deep/);
  assert.throws(() => membersOf(`{"a":[${'1,'.repeat(600)}1]}`), /too large/);
  assert.throws(() => membersOf(`{"a":"${'x'.repeat(2000)}"}`), /too large/);
});
