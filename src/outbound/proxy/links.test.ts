import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rewriteLink } from './links.js';

const RULES = { prefix: '/proxy', scheme: '', host: '', sourceHost: '10.1.1.1:80', requestHost: 'api.test' };

test('an address leads through the proxy, in upper and lower case', () => {
  for (const [link, wanted] of [
    ['/x', '/proxy/x'],
    ['/ü', '/proxy/%C3%BC'],
    ['/%C3%BC?q=ü', '/proxy/%C3%BC?q=ü'],
    ['http://10.1.1.1:80/x', '/proxy/x'],
    ['http://elsewhere.test/ü', 'http://elsewhere.test/%C3%BC'],
    ['x', 'x'],
  ] as const) {
    assert.equal(rewriteLink(link, RULES), wanted);
  }
});

test('a malformed address is an error that names the fault', () => {
  assert.deepEqual(rewriteLink('%zz', RULES), { error: 'parse "%zz": invalid URL escape "%zz"' });
});
