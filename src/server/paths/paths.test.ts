import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testRequest } from '../../filters/testing.js';
import { StatusError } from '../../machinery/status.js';
import { createPaths, getAt } from './paths.js';

test('what can only be read refuses other methods', () => {
  const answer = { status: 200, headers: {}, body: 'here' };
  const paths = createPaths({ handlers: [getAt('/here', 'application/json', () => answer)], index: () => [] });
  assert.equal(paths(testRequest('GET', '/here/'), '/here/'), answer);
  for (const method of ['HEAD', 'POST']) {
    assert.throws(
      () => paths(testRequest(method, '/here'), '/here'),
      (error) => error instanceof StatusError && error.code === 405,
    );
  }
});

test('what comes in one form is refused to who accepts others alone', () => {
  const answer = { status: 200, headers: {}, body: '{}' };
  const paths = createPaths({ handlers: [getAt('/here', 'application/json', () => answer)], index: () => [] });
  const call = (accept: string): unknown => paths(testRequest('GET', '/here', { headers: { accept } }), '/here');
  for (const accept of ['', '*/*', 'text/html, application/json;q=0.5']) assert.equal(call(accept), answer, accept);
  for (const accept of ['application/yaml', 'application/*', 'application/vnd.kubernetes.protobuf']) {
    assert.throws(() => call(accept), { code: 406 }, accept);
  }
});

test('the index has a page name too, and what can only be read has nothing below it', () => {
  const answer = { status: 200, headers: {}, body: 'here' };
  const paths = createPaths({ handlers: [getAt('/here', 'application/json', () => answer)], index: () => ['/a'] });
  const index = paths(testRequest('GET', '/index.html'), '/index.html');
  assert.deepEqual(index, paths(testRequest('GET', '/'), '/'));
  assert.throws(
    () => paths(testRequest('GET', '/here/x'), '/here/x'),
    (error) => error instanceof StatusError && error.code === 404,
  );
});
