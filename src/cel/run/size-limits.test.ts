import assert from 'node:assert/strict';
import { test } from 'node:test';
import { baseEnvironments } from '../environments/base.js';
import { result } from '../testing.js';
import { STRING } from '../type.js';
import { CelError } from '../value.js';

const STOPPED = 'error: operation cancelled: actual cost limit exceeded';
const variables = { text: STRING };
const values = { text: 'a'.repeat(5_000) };

test('no function makes a text that nobody could pay to read', () => {
  for (const expression of [
    'text.replace("a", text)',
    'text.replace("", text)',
    'text.split("").join(text)',
    '"%s".format([text.split("").map(x, text)])',
    '"%s%s".format([text.split("").map(x, text), text])',
    '"%s".format([{"a": text.split("").map(x, text)}])',
    '[text.split("").map(x, text)].distinct()',
    '[dyn(""), dyn(text.split("").map(x, text))].join("")',
  ]) {
    assert.equal(result(`${expression} == ${expression}`, { variables, values }), STOPPED, expression);
  }
  assert.equal(result('text.replace("a", "aaa").size()', { variables, values }), 'int 15000');
});

test('lists are not added to each other without end', () => {
  const doubled = Array.from({ length: 20 }, (_, i) => `cel.bind(l${i + 1}, l${i} + l${i}, `).join('');
  const expression = `cel.bind(l0, [1, 2, 3], ${doubled} l20.size() ${')'.repeat(21)}`;
  assert.equal(result(expression), STOPPED);
  assert.equal(result('lists.range(4000000000).size()'), STOPPED);
});

test('texts and bytes of unknown type are not added to each other without end', () => {
  for (const [start, last] of [
    ['text', 'l30 == ""'],
    ['bytes(string(text))', 'l30 == b""'],
  ] as const) {
    const doubled = Array.from({ length: 30 }, (_, i) => `cel.bind(l${i + 1}, l${i} + l${i}, `).join('');
    const expression = `cel.bind(l0, dyn(${start}), ${doubled} ${last} ${')'.repeat(31)}`;
    assert.equal(result(expression, { variables, values }), STOPPED, start);
  }
});

test('what a list costs that has one list in many places is found out in time', () => {
  const environment = baseEnvironments({
    compatibility: { major: 1, minor: 34 },
    features: { enabled: () => true },
  })
    .of(true)
    .extend({ variables });
  const nested = 'text.split("").map(x, text.split("").map(y, text.split(""))).indexOf([["b"]])';
  const checked = environment.compile(nested);
  assert.equal(checked.issues, undefined);
  const program = checked.issues === undefined ? checked.plan() : undefined;
  assert.ok(program !== undefined && !(program instanceof CelError));
  const { value } = program.evaluate({ text: 'a'.repeat(120) });
  assert.ok(value instanceof CelError && value.cancelled === 'cost-limit');
});
