import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type HasFields, parseFieldSelector } from './field-selector.js';

const having = (fields: Record<string, string>): HasFields => ({ field: (name) => fields[name] ?? '' });

test('terms are split at bare commas and at the first operator, and sorted', () => {
  const selector = parseFieldSelector('b!=x,a==1\\,2,,c=');
  assert.deepEqual(selector.requirements, [
    { field: 'a', operator: '=', value: '1,2' },
    { field: 'b', operator: '!=', value: 'x' },
    { field: 'c', operator: '=', value: '' },
  ]);
  assert.equal(selector.toString(), 'a=1\\,2,b!=x,c=');
  assert.equal(selector.matches(having({ a: '1,2' })), true);
  assert.equal(selector.matches(having({ a: '1,2', b: 'x' })), false);
  assert.equal(selector.requiresExactMatch('a'), '1,2');
  assert.equal(selector.requiresExactMatch('b'), undefined);
});

test('a condition on nothing is none', () => {
  for (const text of ['=', '==', '!=', '=,==']) assert.equal(parseFieldSelector(text).empty, true, text);
  assert.equal(parseFieldSelector('=,a=b').toString(), 'a=b');
  assert.equal(parseFieldSelector('=b').toString(), '=b');
});

test('what is no selector is refused in kube-apiserver’s words', () => {
  const refused = (text: string, message: string): void => assert.throws(() => parseFieldSelector(text), { message });
  refused('a=1,b', "invalid selector: 'a=1,b'; can't understand 'b'");
  refused('a=b=c', 'invalid field selector: unescaped character in value: 61');
  refused('a=\\x', 'invalid field selector: invalid escape sequence: \\x');
  refused('a=x\\', 'invalid field selector: invalid escape sequence: \\');
});

test('a transformation may rename, drop and refuse', () => {
  const selector = parseFieldSelector('a=1,b=2').transform((field, value) => (field === 'a' ? ['', ''] : ['c', value]));
  assert.equal(selector.toString(), 'c=2');
});

test('many requirements mean together what each of them means, and read each field once', () => {
  const many = Array.from({ length: 1_000 }, (_, i) => `a!=v${i}`).join(',');
  const reads: string[] = [];
  const object = (a: string) => ({ field: (name: string) => (reads.push(name), name === 'a' ? a : '') });
  assert.equal(parseFieldSelector(many).matches(object('x')), true);
  assert.deepEqual(reads, ['a']);
  assert.equal(parseFieldSelector(many).matches(object('v7')), false);
  assert.equal(parseFieldSelector(`${many},a=x`).matches(object('x')), true);
  assert.equal(parseFieldSelector(`${many},a=x`).matches(object('y')), false);
  assert.equal(parseFieldSelector(`${many},a=x,a=y`).matches(object('x')), false);
  assert.equal(parseFieldSelector(`${many},b=`).matches(object('x')), true);
});
