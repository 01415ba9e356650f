import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HttpRequest } from '../../lib/http/http.js';
import { forwardedHeaders, returnedHeaders, returnedTrailers, upgradeHeaders } from './headers.js';

const from = (headers: Record<string, string>): HttpRequest =>
  ({ headers, host: 'api.test:6443', remoteAddress: '[fd00::1]:1234' }) as unknown as HttpRequest;

test('what belongs to the connection, and who the client is, does not go on', () => {
  const headers = forwardedHeaders(
    from({
      connection: 'keep-alive, X-Private',
      'x-private': 'a',
      upgrade: 'spdy',
      'transfer-encoding': 'chunked',
      authorization: 'Bearer t',
      'x-remote-user': 'root',
      'x-remote-extra-a': 'b',
      'impersonate-user': 'root',
      ':path': '/x',
      'x-forwarded-for': '10.0.0.1',
      accept: 'a/b',
    }),
  );
  assert.deepEqual(headers, { host: 'api.test:6443', 'x-forwarded-for': '10.0.0.1, fd00::1', accept: 'a/b' });
});

test('a request without a host gets the host that it is forwarded to', () => {
  assert.deepEqual(Object.keys(forwardedHeaders({ ...from({}), host: '' })), ['x-forwarded-for']);
});

test('headers that were sent several times go on as several, unless they were changed since', () => {
  const rawHeaders = ['X-Stream-Protocol-Version', 'v5', 'x-stream-protocol-version', 'v4', 'A', '1', 'A', '2'];
  const sent = { ...from({ 'x-stream-protocol-version': 'v5, v4', a: '1' }), rawHeaders };
  for (const headers of [forwardedHeaders(sent), upgradeHeaders(sent)]) {
    assert.deepEqual(headers['x-stream-protocol-version'], ['v5', 'v4']);
    assert.equal(headers['a'], '1');
  }
});

test('that a client understands trailers goes on, and nothing else that its connection could do', () => {
  assert.equal(forwardedHeaders(from({ te: 'deflate, Trailers', connection: 'te' }))['te'], 'trailers');
  assert.equal(forwardedHeaders(from({ te: 'deflate' }))['te'], undefined);
});

test('a request to leave HTTP keeps what says so, and no credentials', () => {
  const headers = upgradeHeaders(from({ connection: 'Upgrade', upgrade: 'SPDY/3.1', authorization: 'Bearer t' }));
  assert.deepEqual(headers, {
    host: 'api.test:6443',
    connection: 'Upgrade',
    upgrade: 'SPDY/3.1',
    'x-forwarded-for': 'fd00::1',
  });
});

test('an answer comes back without its connection and its word on other origins; repeated values stay apart', () => {
  const rawHeaders = ['Connection', 'x-hop', 'X-Hop', '1', 'Set-Cookie', 'a', 'Set-Cookie', 'b', 'Set-Cookie', 'c'];
  const headers = returnedHeaders({
    headers: { connection: 'x-hop' },
    rawHeaders: [...rawHeaders, 'Access-Control-Allow-Origin', '*', 'Access-Control-Expose-Headers', 'x'],
  });
  assert.deepEqual(headers, { 'set-cookie': ['a', 'b', 'c'], 'access-control-expose-headers': 'x' });
  const twice = ['Content-Length', '2', 'Content-Length', '2'];
  assert.deepEqual(returnedHeaders({ headers: { 'content-length': '2' }, rawHeaders: twice }), {
    'content-length': '2',
  });
});

test('what follows the body is announced anew, and comes back but for what belongs to the connection', () => {
  const announced = { headers: { trailer: 'x-sum,X-OTHER' }, rawHeaders: ['Trailer', 'x-sum,X-OTHER'] };
  assert.deepEqual(returnedHeaders(announced), { trailer: 'X-Sum, X-Other' });
  assert.deepEqual(returnedHeaders({ ...announced, headers: { ...announced.headers, 'content-length': '1' } }), {});
  const trailers = { 'x-sum': ['1'], 'content-length': ['5'], 'transfer-encoding': ['chunked'] };
  assert.deepEqual(returnedTrailers(trailers), { 'x-sum': ['1'] });
});
