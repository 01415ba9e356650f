import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testRequest } from '../filters/testing.js';
import { StatusError } from '../machinery/status.js';
import { createPaths, getAt } from './paths.js';

test('what can only be read refuses other methods', () => {
  const answer = { status: 200, headers: {}, body: 'here' };
  const paths = createPaths({ handlers: [getAt('/here', () => answer)], index: () => [] });
  assert.equal(paths(testRequest('GET', '/here/'), '/here/'), answer);
  for (const method of ['HEAD', 'POST']) {
    assert.throws(
      () => paths(testRequest(method, '/here'), '/here'),
      (error) => error instanceof StatusError && error.code === 405,
    );
  }
});

test('the index has a page name too, and what can only be read has nothing below it', () => {
  const answer = { status: 200, headers: {}, body: 'here' };
  const paths = createPaths({ handlers: [getAt('/here', () => answer)], index: () => ['/a'] });
  const index = paths(testRequest('GET', '/index.html'), '/index.html');
  assert.deepEqual(index, paths(testRequest('GET', '/'), '/'));
  assert.throws(
    () => paths(testRequest('GET', '/here/x'), '/here/x'),
    (error) => error instanceof StatusError && error.code === 404,
  );
});
