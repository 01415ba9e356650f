import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileRegexp } from './regexp.js';

test('two groups may have one name', () => {
  assert.ok(compileRegexp('^(?P<n>a)(?<n>b)$').test('ab'));
  assert.ok(compileRegexp('^(?P<n>a)[(?P<n>]\\(\\Q(?P<n>\\E(?P<n>b)$').test('a<((?P<n>b'));
});

test('a wrong expression fails with the message of Go', () => {
  assert.throws(() => compileRegexp('a\\'), {
    message: 'error parsing regexp: trailing backslash at end of expression: ``',
  });
  assert.throws(() => compileRegexp('(?P<n>a)(?P<n>[)'), { message: /^error parsing regexp: missing closing \]/ });
});
