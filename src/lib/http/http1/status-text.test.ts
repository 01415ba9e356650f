import assert from 'node:assert/strict';
import { test } from 'node:test';
import { statusText } from './status-text.js';

test('a status has the words that Go has for it, and its number where that has none', () => {
  assert.deepEqual([200, 413, 414, 416, 418, 509, 799].map(statusText), [
    'OK',
    'Request Entity Too Large',
    'Request URI Too Long',
    'Requested Range Not Satisfiable',
    "I'm a teapot",
    'status code 509',
    'status code 799',
  ]);
});
