// runs-on: every-node
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ChunkedDecoder } from '../../lib/http/http1/chunked.js';
import { MAX_HEAD_BYTES, requestHeadReader } from './head-reader.js';
import { isRefusal } from './request-head.js';

test('a head is found whatever pieces it comes in, and what follows it is left', () => {
  const text = 'PUT /a?b HTTP/1.1\r\nHost: h\r\nA: 1\r\na: 2\r\n\r\n';
  for (let size = 1; size <= text.length + 4; size++) {
    const reader = requestHeadReader();
    let found: ReturnType<ReturnType<typeof requestHeadReader>['take']>;
    const bytes = Buffer.from(`${text}rest`);
    let at = 0;
    for (; found === undefined && at < bytes.length; at += size) found = reader.take(bytes.subarray(at, at + size));
    assert.ok(found !== undefined && !isRefusal(found.head), `pieces of ${size}`);
    const { method, path, search, headers } = found.head;
    assert.deepEqual([method, path, search, headers['a']], ['PUT', '/a', 'b', '1, 2']);
    assert.equal(found.rest.toString() + bytes.toString('latin1', at), 'rest');
    assert.equal(reader.begun, false);
  }
});

test('a head that has no end is refused at its limit, byte by byte as well', () => {
  const reader = requestHeadReader();
  assert.equal(reader.take(Buffer.from('GET / HTTP/1.1\r\na: ')), undefined);
  const byte = Buffer.from('x');
  let taken = 0;
  while (reader.take(byte) === undefined) taken++;
  assert.ok(taken < MAX_HEAD_BYTES && taken > MAX_HEAD_BYTES - 100, `${taken}`);
});

test('a head of more headers than one of HTTP/2 has room for is refused', () => {
  const headed = (count: number) =>
    requestHeadReader().take(Buffer.from(`GET / HTTP/1.1\r\nHost: h\r\n${'a:1\r\n'.repeat(count)}\r\n`))?.head;
  assert.deepEqual(headed(33_000), { status: 431, text: '' });
  const head = headed(32_000);
  assert.ok(head !== undefined && !isRefusal(head));
});

test('chunks are read whatever pieces they come in', () => {
  const text = '3;a=b\r\nabc\r\n0A\r\n0123456789\r\n0\r\nx: y\r\n\r\n';
  for (let size = 1; size <= text.length; size++) {
    const decoder = new ChunkedDecoder();
    let data = '';
    let taken = 0;
    const bytes = Buffer.from(`${text}next`);
    for (let at = 0; at < bytes.length && !decoder.done; at += size) {
      taken += decoder.feed(bytes.subarray(at, at + size), (piece) => (data += piece.toString()));
    }
    assert.deepEqual([data, taken], ['abc0123456789', text.length], `pieces of ${size}`);
  }
});
