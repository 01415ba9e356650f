import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeAnswer } from './decode-answer.js';

const wanted = { group: 'authorization.k8s.io', version: 'v1', kind: 'SubjectAccessReview' };

test('an answer that begins as JSON and is none is reported before its kind is known', () => {
  assert.throws(() => decodeAnswer(Buffer.from('{nope'), wanted), {
    message:
      "couldn't get version/kind; json parse error: invalid character 'n' looking for beginning of object key string",
  });
});
