import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseAnyYaml } from './parse.js';
import { parsePlainJson } from './plain-json.js';

const read = (source: string): unknown => {
  try {
    return parseAnyYaml(source);
  } catch (error) {
    return { error: (error as Error).message };
  }
};

test('what is read as JSON is what YAML would read', () => {
  const texts = fc.oneof(fc.string(), fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' }));
  const tree = fc.letrec((tie) => ({
    node: fc.oneof(
      { depthSize: 'small' },
      texts,
      fc.integer(),
      fc.double(),
      fc.bigInt(),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie('node')),
      fc.dictionary(texts, tie('node')),
    ),
  })).node;
  const stringify = (value: unknown, space: number): string =>
    JSON.stringify(value, (_, member: unknown) => (typeof member === 'bigint' ? Number(member) : member), space);
  fc.assert(
    fc.property(fc.dictionary(texts, tree), fc.integer({ min: 0, max: 4 }), (object, space) => {
      const source = stringify(object, space);
      const value = parsePlainJson(source);
      if (value !== undefined) assert.deepEqual({ value }, read(source), source);
    }),
    { numRuns: 2_000 },
  );
});

test('what YAML reads in its own way is left to it', () => {
  const odd = ['{"a":1.5}', '{"a":9007199254740993}', '{"a":1,"a":2}', '{"<<":{"b":1}}', '{\t"a":1}'];
  for (const source of [...odd, '{"a":"\\ud83d\\ude00"}', '{a: 1}', '[1]', 'a: 1', '']) {
    assert.equal(parsePlainJson(source), undefined, source);
  }
  for (const source of ['{"a":1e3}', '{"a":1.0}', '{"a":-7}']) {
    assert.deepEqual({ value: parsePlainJson(source) }, read(source), source);
  }
  assert.deepEqual(parsePlainJson('{"a":[1,"x",{"b":null}]}'), { a: [1, 'x', { b: null }] });
});
