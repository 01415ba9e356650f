import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jsonPathError, parseJsonPath } from './json-path.js';

test('paths are lists of steps', () => {
  assert.deepEqual(parseJsonPath("x{.items[*].metadata['name']}"), [
    { kind: 'text', text: 'x' },
    {
      kind: 'list',
      nodes: [
        { kind: 'field', name: 'items' },
        { kind: 'slice' },
        { kind: 'field', name: 'metadata' },
        { kind: 'field', name: 'name' },
      ],
    },
  ]);
  assert.deepEqual(parseJsonPath('{[1]}'), [{ kind: 'list', nodes: [{ kind: 'slice', from: 1, to: 2 }] }]);
});

test('a filter compares what stands left and right', () => {
  assert.deepEqual(parseJsonPath('{[?(@.a=="x")]}'), [
    {
      kind: 'list',
      nodes: [
        {
          kind: 'filter',
          left: [{ kind: 'field', name: 'a' }],
          operator: '==',
          right: [{ kind: 'text', text: 'x' }],
        },
      ],
    },
  ]);
});

test("errors have kube-apiserver's words", () => {
  const mistakes: Record<string, string> = {
    '{.a': 'unclosed action',
    '{[a]}': 'invalid array index a',
    '{.a[}': 'unterminated array',
    '{(}': "unrecognized character in action: U+0028 '('",
    '{....a}': 'invalid multiple recursive descent',
    '{"a}': 'unterminated quoted string',
  };
  for (const [template, why] of Object.entries(mistakes)) assert.equal(jsonPathError(template), why, template);
  assert.equal(jsonPathError('{.spec.a}'), undefined);
});
