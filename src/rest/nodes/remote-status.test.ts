import assert from 'node:assert/strict';
import { test } from 'node:test';
import { statusOfEnd, statusOfRefusal } from './remote-status.js';

const message = (text: string, speaksJson = true): unknown => statusOfEnd(text, speaksJson)['message'];

test('a command that ended well is a Success, from a kubelet of any version', () => {
  const success = { metadata: {}, status: 'Success' };
  assert.deepEqual(statusOfEnd('', true), success);
  assert.deepEqual(statusOfEnd('{"status":"Success"}', true), success);
  assert.deepEqual(statusOfEnd('', false), success);
});

test('an exit code is passed on; what is none is a failure of the kubelet', () => {
  const exit = (code: string): string =>
    JSON.stringify({
      status: 'Failure',
      reason: 'NonZeroExitCode',
      details: { causes: [{ reason: 'ExitCode', message: code }] },
    });
  assert.deepEqual(statusOfEnd(exit('7'), true)['details'], { causes: [{ reason: 'ExitCode', message: '7' }] });
  for (const code of ['256', '-1', 'x', '']) {
    assert.match(String(message(exit(code))), /invalid exit code value/);
  }
});

test('garbage on the error stream is reported, not believed', () => {
  for (const garbage of ['{', '[]', '"x"', '{"status":"Perhaps"}', '{"status":"Failure","reason":"NonZeroExitCode"}']) {
    assert.match(String(message(garbage)), /^Internal error occurred: error stream protocol error/);
  }
  assert.equal(
    message('not json'),
    `Internal error occurred: error stream protocol error: invalid character 'o' in literal null (expecting 'u') in "not json"`,
  );
  assert.equal(message('no such file', false), 'Internal error occurred: error executing remote command: no such file');
});

test('a refusal that is a Status is passed on as it is, any other as text', () => {
  const status =
    '{"kind":"Status","apiVersion":"v1","status":"Failure","message":"gone","reason":"NotFound","code":404}';
  assert.equal(
    JSON.stringify(statusOfRefusal(status)),
    '{"metadata":{},"status":"Failure","message":"gone","reason":"NotFound","code":404}',
  );
  assert.equal(
    statusOfRefusal(' not so\n')['message'],
    'Internal error occurred: unable to upgrade connection: not so',
  );
});
