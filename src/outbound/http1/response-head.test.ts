import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OutboundError } from '../outbound-error.js';
import { parseResponseHead, responseHeadReader } from './response-head.js';

const head = (...lines: string[]): string => lines.join('\r\n');
const framingOf = (...lines: string[]): unknown => {
  const read = parseResponseHead(head(...lines));
  return read instanceof OutboundError ? read.message : read.framing;
};

test('where an answer ends is said once, or it is no answer', () => {
  const ok = 'HTTP/1.1 200 OK';
  for (const [lines, wanted] of [
    [[ok], { kind: 'close' }],
    [[ok, 'Content-Length: 0'], { kind: 'none' }],
    [[ok, 'Content-Length: 12'], { kind: 'length', bytes: 12 }],
    [[ok, 'Content-Length: 12', 'Content-Length: 12'], { kind: 'length', bytes: 12 }],
    [
      [ok, 'Content-Length: 12', 'Content-Length: 13'],
      'http: message cannot contain multiple Content-Length headers; got ["12" "13"]',
    ],
    [[ok, 'Content-Length: +12'], 'bad Content-Length "+12"'],
    [[ok, 'Content-Length: 0x12'], 'bad Content-Length "0x12"'],
    [[ok, 'Content-Length: -1'], 'bad Content-Length "-1"'],
    [[ok, 'Content-Length:'], 'bad Content-Length ""'],
    [[ok, 'Transfer-Encoding: Chunked'], { kind: 'chunked' }],
    [[ok, 'Transfer-Encoding: chunked', 'Content-Length: 3'], 'both a transfer encoding and a Content-Length'],
    [[ok, 'Transfer-Encoding: gzip, chunked'], 'unsupported transfer encoding: "gzip, chunked"'],
    [
      [ok, 'Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'],
      'unsupported transfer encoding: "chunked, chunked"',
    ],
    [['HTTP/1.0 200 OK', 'Transfer-Encoding: chunked'], 'a transfer encoding in HTTP/1.0'],
    [[ok, 'Transfer-Encoding: chunked', 'Trailer: X-Sum, content-length'], 'bad trailer key "Content-Length"'],
    [[ok, 'Transfer-Encoding: chunked', 'Trailer: X-Sum'], { kind: 'chunked' }],
    [[ok, 'Content-Length: 3', 'Trailer: Content-Length'], { kind: 'length', bytes: 3 }],
    [['HTTP/1.1 204 No Content', 'Content-Length: 5'], { kind: 'none' }],
    [['HTTP/1.1 304 Not Modified', 'Content-Length: 5'], { kind: 'none' }],
  ] as const) {
    assert.deepEqual(framingOf(...lines), wanted, lines.join(' | '));
  }
});

test('a malformed head is refused in kube-apiserver’s words', () => {
  for (const [lines, wanted] of [
    [['what?'], 'malformed HTTP response "what?"'],
    [['HTTP/1.1 20 OK'], 'malformed HTTP status code "20"'],
    [['HTTP/1.1 +20 OK'], 'malformed HTTP status code "+20"'],
    [['HTTQ/1.1 200 OK'], 'malformed HTTP version "HTTQ/1.1"'],
    [['HTTP/2.0 200 OK'], 'unsupported protocol version "HTTP/2.0"'],
    [['HTTP/1.1 200 OK', 'no colon'], 'malformed MIME header: missing colon: "no colon"'],
    [['HTTP/1.1 200 OK', 'a : b'], 'malformed MIME header line: a : b'],
    [['HTTP/1.1 200 OK', 'a: b', ' folded: c'], 'malformed MIME header line:  folded: c'],
    [['HTTP/1.1 200 OK', 'a: b\x00'], 'malformed MIME header line: a: b\x00'],
    [['HTTP/1.1 200 OK', 'a: b\nContent-Length: 1'], 'malformed MIME header line: a: b\nContent-Length: 1'],
  ] as const) {
    assert.equal(framingOf(...lines), wanted);
  }
});

test('a connection is kept where both sides say so', () => {
  const keeps = (...lines: string[]): unknown =>
    (parseResponseHead(head(...lines)) as { keepAlive: boolean }).keepAlive;
  assert.equal(keeps('HTTP/1.1 200 OK'), true);
  assert.equal(keeps('HTTP/1.1 200 OK', 'Connection: x, Close'), false);
  assert.equal(keeps('HTTP/1.0 200 OK'), false);
  assert.equal(keeps('HTTP/1.0 200 OK', 'Connection: Keep-Alive'), true);
});

test('what is no answer is known at its first line, and a head without end at its limit', () => {
  const first = responseHeadReader().take(Buffer.from('SSH-2.0-x\r\n'));
  assert.ok(first?.head instanceof OutboundError);
  const endless = responseHeadReader();
  const line = Buffer.from(`a: ${'x'.repeat(1000)}\r\n`);
  let found = endless.take(Buffer.from('HTTP/1.1 200 OK\r\n'));
  let bytes = 0;
  for (; found === undefined; bytes += line.length) found = endless.take(line);
  assert.ok(bytes < 1.1e6 && bytes > 1e6, `${bytes}`);
  assert.equal((found.head as OutboundError).message, 'net/http: server response headers exceeded limit');
});
