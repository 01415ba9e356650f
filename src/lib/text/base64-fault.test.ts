import assert from 'node:assert/strict';
import { test } from 'node:test';
import { base64Fault } from './base64-fault.js';

const STANDARD = { url: false, padded: true };
const RAW_URL = { url: true, padded: false };

test('what kube-apiserver reads has no fault', () => {
  for (const text of ['', 'AAEC', 'AA==', 'AAE=', 'AA\n==', 'A\r\nA=\n=', 'a+/z\n']) {
    assert.equal(base64Fault(text, STANDARD), undefined, JSON.stringify(text));
  }
  for (const text of ['', 'AA', 'AAE', 'a-_z']) assert.equal(base64Fault(text, RAW_URL), undefined, text);
});

test('a group that ends too soon is at fault where it began', () => {
  assert.equal(base64Fault('0', STANDARD), 0);
  assert.equal(base64Fault('AAECA', STANDARD), 4);
  assert.equal(base64Fault('AAECAA', STANDARD), 4);
  assert.equal(base64Fault('AAECAAA', STANDARD), 4);
  assert.equal(base64Fault('AAECA', RAW_URL), 4);
});

test('a character that is not base64 is at fault itself', () => {
  assert.equal(base64Fault('AA!C', STANDARD), 2);
  assert.equal(base64Fault('A-_z', STANDARD), 1);
  assert.equal(base64Fault('A+/z', RAW_URL), 1);
  assert.equal(base64Fault('AA==', RAW_URL), 2);
});

test('padding stands at the end, as often as is needed', () => {
  assert.equal(base64Fault('=', STANDARD), 0);
  assert.equal(base64Fault('A===', STANDARD), 1);
  assert.equal(base64Fault('AA=', STANDARD), 3);
  assert.equal(base64Fault('AA=A', STANDARD), 2);
  assert.equal(base64Fault('AA==A', STANDARD), 4);
  assert.equal(base64Fault('AAE==', STANDARD), 4);
});
