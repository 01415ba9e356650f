import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HttpRequest } from '../lib/http/http.js';
import { AuthenticationError } from './authenticator.js';
import { createBearerAuthenticator } from './bearer-token.js';

/** Who knows one token. */
const authenticator = createBearerAuthenticator(
  { authenticateToken: (token) => (token === 'secret' ? { user: { name: 'jane', groups: [] } } : undefined) },
  [],
);
const authenticate = (authorization: string): unknown =>
  authenticator.authenticate({ headers: { authorization } } as unknown as HttpRequest);

test('spaces around a token are no part of it', async () => {
  for (const header of ['Bearer secret', ' bearer secret ', 'BEARER secret\t']) {
    assert.deepEqual(await authenticate(header), { user: { name: 'jane', groups: [] } }, header);
  }
});

test('a token with bytes behind it that are spaces elsewhere is another token', () => {
  for (const header of ['Bearer secret\xa0', 'Bearer secret\xef\xbb\xbf', 'Bearer \xa0secret']) {
    assert.throws(() => authenticate(header), AuthenticationError, header);
  }
});

test('requests of one connection are from whom their own header says', async () => {
  const connection = {};
  const ofConnection = (headers: HttpRequest['headers']): unknown =>
    authenticator.authenticate({ headers, connection } as unknown as HttpRequest);
  for (let round = 0; round < 2; round++) {
    assert.deepEqual(await ofConnection({ authorization: 'Bearer secret' }), { user: { name: 'jane', groups: [] } });
    assert.throws(() => ofConnection({ authorization: 'Bearer secreT' }), AuthenticationError);
    assert.equal(ofConnection({ authorization: 'Basic secret' }), undefined);
    assert.equal(ofConnection({}), undefined);
  }
});
