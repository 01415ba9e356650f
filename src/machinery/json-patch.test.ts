import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applyJsonPatch, JsonPatchError } from './json-patch.js';
import { applyMergePatch } from './merge-patch.js';
import { StatusError } from './status.js';

const document = Object.freeze({ a: { b: [1, 2, 3], 'c/d': 'x' }, n: null });
const patched = (...operations: object[]): unknown => applyJsonPatch(document, operations);

test('operations apply one after the other and leave the document alone', () => {
  const before = JSON.stringify(document);
  assert.deepEqual(
    patched(
      { op: 'test', path: '/a/c~1d', value: 'x' },
      { op: 'add', path: '/a/b/1', value: 9 },
      { op: 'add', path: '/a/b/-', value: 4 },
      { op: 'remove', path: '/a/b/0' },
      { op: 'copy', from: '/a/b', path: '/copy' },
      { op: 'add', path: '/copy/0', value: 0 },
      { op: 'move', from: '/a/c~1d', path: '/moved' },
      { op: 'replace', path: '/new', value: true },
      { op: 'add', path: '/a/b/-1', value: 5 },
    ),
    { a: { b: [9, 2, 3, 4, 5] }, n: null, copy: [0, 9, 2, 3, 4], moved: 'x', new: true },
  );
  assert.equal(JSON.stringify(document), before);
});

test('what is copied into itself again and again is what it was each time', () => {
  const plain = { b: [1, 2, 3], 'c/d': 'x' };
  const copy = { op: 'copy', from: '/a', path: '/a/x' };
  assert.deepEqual(patched(copy, copy, copy), { a: { ...plain, x: { ...plain, x: { ...plain, x: plain } } }, n: null });
  const deeper = [
    { op: 'add', path: '/a/y', value: { z: 1 } },
    ...['p', 'q'].map((to) => ({ ...copy, path: `/a/y/${to}` })),
  ];
  const first = { ...plain, y: { z: 1 } };
  const second = { ...plain, y: { z: 1, p: first } };
  assert.deepEqual(patched(...deeper), { a: { ...plain, y: { z: 1, p: first, q: second } }, n: null });
});

test('a member that is not there equals null in a test', () => {
  assert.deepEqual(patched({ op: 'test', path: '/z', value: null }, { op: 'test', path: '/n' }), document);
});

test('the whole is replaced by what has members, and by nothing else', () => {
  assert.deepEqual(patched({ op: 'replace', path: '', value: { z: 1 } }), { z: 1 });
  for (const value of [null, 'x', 7, undefined])
    assert.deepEqual(patched({ op: 'replace', path: '', value }), document);
});

test('patches that do not apply say why', () => {
  const refused = (operation: object, message: string): void =>
    assert.throws(
      () => patched(operation),
      (error) => error instanceof JsonPatchError && error.message === message,
    );
  refused({ op: 'test', path: '/a/b/0', value: 2 }, 'testing value /a/b/0 failed: test failed');
  refused(
    { op: 'remove', path: '/z' },
    "error in remove for path: '/z': Unable to remove nonexistent key: z: missing value",
  );
  refused(
    { op: 'add', path: '/z/y', value: 1 },
    'add operation does not apply: doc is missing path: "/z/y": missing value',
  );
  refused(
    { op: 'add', path: '/a/b/9', value: 1 },
    "error in add for path: '/a/b/9': Unable to access invalid index: 9: invalid index referenced",
  );
  refused(
    { op: 'replace', path: '/a/b/9' },
    'replace operation does not apply: doc is missing key: /a/b/9: missing value',
  );
  refused({ op: 'nope', path: '/a' }, 'Unexpected kind: nope');
  refused({ op: 'add', value: 1 }, 'add operation failed to decode path: missing value');
  refused({ op: 'test' }, 'test operation failed to decode path: operation missing path field: missing value');
  refused(
    { op: 'copy', path: '/a' },
    'copy operation failed to decode from: operation, missing from field: missing value',
  );
});

test('what is no patch is refused as a request, and a patch may be long', () => {
  const code = (patch: unknown): unknown => {
    try {
      return applyJsonPatch(document, patch);
    } catch (error) {
      return error instanceof StatusError ? error.code : error;
    }
  };
  assert.equal(code({}), 400);
  assert.equal(code(['x']), 400);
  assert.deepEqual(code(Array.from({ length: 10_001 }, () => ({ op: 'replace', path: '', value: {} }))), {});
});

test('a merge patch deletes by null and replaces lists', () => {
  assert.deepEqual(
    applyMergePatch(
      { a: { b: 1, c: 2 }, l: [1], s: 'x' },
      { a: { b: null, d: { e: null } }, l: [null, { x: null }], s: { t: 1 } },
    ),
    {
      a: { c: 2, d: {} },
      l: [null, {}],
      s: { t: 1 },
    },
  );
  assert.throws(() => applyMergePatch({}, []), { message: 'Invalid JSON Patch' });
});
