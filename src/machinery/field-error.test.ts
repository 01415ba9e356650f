import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  duplicate,
  fieldErrorText,
  FieldPath,
  invalid,
  named,
  notSupported,
  required,
  plainNotSupported,
  withMore,
} from './field-error.js';
import { invalid as invalidObject } from './status.js';

const path = FieldPath.of('spec').child('items');

test('an error has its path, its type and its detail', () => {
  assert.equal(fieldErrorText(required(path.index(3))), 'spec.items[3]: Required value');
  assert.equal(fieldErrorText(invalid(path, 'a', 'no')), 'spec.items: Invalid value: "a": no');
  assert.equal(
    fieldErrorText(notSupported(path, 'c', ['a', 'b'])),
    'spec.items: Unsupported value: "c": supported values: "a", "b"',
  );
  assert.equal(fieldErrorText(notSupported(undefined, 1, [])), '<nil>: Unsupported value: 1');
  assert.equal(fieldErrorText(withMore(duplicate(path, 'x'), 'once')), 'spec.items: Duplicate value: "x": once');
});

test('values are shown as kube-apiserver shows them', () => {
  const shown = (value: unknown) => fieldErrorText(invalid(path, value, 'no'));
  assert.equal(shown(['<a>', '&']), 'spec.items: Invalid value: ["\\u003ca\\u003e","\\u0026"]: no');
  assert.equal(shown('<a>'), 'spec.items: Invalid value: "<a>": no');
  assert.equal(shown(1500000.5), 'spec.items: Invalid value: 1.5000005e+06: no');
  assert.equal(shown(1500000), 'spec.items: Invalid value: 1500000: no');
});

test('errors that are not reported are not formatted', () => {
  let formatted = 0;
  const value = {
    toJSON: () => {
      formatted++;
      return 1;
    },
  };
  const errors = Array.from({ length: 50_000 }, (_, i) => invalid(path.index(i), value, ''));
  assert.equal(formatted, 0);
  assert.equal(invalidObject({ group: '', kind: 'Pod' }, 'a', errors).details?.causes?.length, 10_000);
  assert.ok(formatted < 40_000, `${formatted}`);
});

test('a string of a type of its own is shown as JSON writes it, a plain one as Go quotes it', () => {
  const bodies = (value: string): string[] =>
    [
      invalid(path, value, ''),
      invalid(path, named(value), ''),
      duplicate(path, named(value)),
      plainNotSupported(path, value, []),
      notSupported(path, value, []),
    ].map(({ body }) => body.slice(body.indexOf('"')));
  assert.deepEqual(bodies('x"\\'), Array(5).fill('"x\\"\\\\"'));
  const written = '"\\u003c\\u0026\\u003e\\u2028\u007f"';
  const quoted = '"<&>\\u2028\\x7f"';
  assert.deepEqual(bodies('<&>\u2028\u007f'), [quoted, written, written, quoted, written]);
  assert.equal(invalid(path, named(undefined), '').body, 'Invalid value: null');
});
