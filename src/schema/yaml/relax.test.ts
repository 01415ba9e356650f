import assert from 'node:assert/strict';
import test from 'node:test';
import { parseYaml } from './parse.js';
import { relaxed } from './relax.js';

const value = (yaml: string): unknown => parseYaml(yaml).value;

test('lines within brackets and quotes may begin anywhere', () => {
  assert.deepEqual(value('a: {\n  b: c\n}\nd: e\n'), { a: { b: 'c' }, d: 'e' });
  assert.deepEqual(value('a:\n  - b: [\n1,\n# one\n"x\ny"\n]\n  - c\n'), { a: [{ b: [1, 'x y'] }, 'c'] });
  assert.deepEqual(value('a:\n  b: "x\ny\n\nz\\\n  !"\n'), { a: { b: 'x y\nz!' } });
  assert.deepEqual(value('a:\r\n  b: "x\ry"\r\n'), { a: { b: 'x y' } });
  assert.deepEqual(value("a:\n  b: 'it''s\nhere'\n"), { a: { b: "it's here" } });
  assert.deepEqual(value('a:\n  b: !x &y {c: !z "d\n}"}\n'), { a: { b: { c: 'd }' } } });
});

test('a tab is a space within brackets', () => {
  assert.deepEqual(value('a: {b: c,\td: e\tf}\n'), { a: { b: 'c', d: 'e\tf' } });
  assert.deepEqual(value('a: {\n\tb: c\n}\n'), { a: { b: 'c' } });
});

test('texts, comments and plain scalars are left alone when something else is indented', () => {
  const yaml = 'a: |\n  {\n "\nb: it\'s {\n# "\nc: [\n1]\n';
  assert.equal(relaxed(yaml), 'a: |\n  {\n "\nb: it\'s {\n# "\nc: [\n 1]\n');
  assert.equal(relaxed('- - |\n    x\n    "\n  - "y\nz"\n'), '- - |\n    x\n    "\n  - "y\n   z"\n');
});

test('the end of a document is one within quotes, too', () => {
  assert.throws(() => value('a: "x\n--- y"\n'));
});

test('lines end at the separators of other alphabets, and those stay within quotes', () => {
  assert.deepEqual(value('a: b\x85c: {d: e,\u2028f: "g\u2029h"} # i\u2028j: k\n'), {
    a: 'b',
    c: { d: 'e', f: 'g\u2029h' },
    j: 'k',
  });
  assert.deepEqual(value('a: "b\x85c"\n'), { a: 'b c' });
});

test('what is written anew does not grow beyond what was sent', () => {
  const deep = `${' '.repeat(150)}a: [${'\n1,'.repeat(20_000)}]\n`;
  assert.ok(relaxed(deep).length < 5 * deep.length + 200_000);
  const deeper = `${' '.repeat(300)}a: [\n1]\n`;
  assert.equal(relaxed(deeper), deeper);
});

test('slashes are not escaped, and of directives two are known', () => {
  assert.throws(() => value('a: "b\\/c"\n'), /found unknown escape character/);
  assert.throws(() => value('{"a":"b\\/c"}'), /found unknown escape character/);
  assert.deepEqual(value('a: "b\\\\/c"\n'), { a: 'b\\/c' });
  assert.throws(() => value('%ODD x\n---\na: b\n'), /found unknown directive name/);
  assert.deepEqual(value('a: 5%\n%b: c\n'.replace('%b', 'b')), { a: '5%', b: 'c' });
});

test('what follows a document is not read', () => {
  assert.deepEqual(value('{"a": 1}{}'), { a: 1 });
  assert.deepEqual(value('{"a": 1} x'), { a: 1 });
  assert.throws(() => value('{"a": 1} x: y'));
  assert.deepEqual(value('a: b\n... x\n'), { a: 'b' });
  assert.deepEqual(value('a: b\n%YAML 1.2\n---\nc: d\n'), { a: 'b' });
  assert.throws(() => value('{"a": 1}"b'));
  assert.throws(() => value('{"a": 1}@'));
});
