// runs-on: every-node
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { collectBody } from '../http-client.js';
import type { OutboundRequest } from '../messages.js';
import { OutboundError, StaleConnection } from '../outbound-error.js';
import type { Http1Connection } from './connection.js';
import { Http1Pool } from './pool.js';
import { PlayedServer } from './testing.js';

const url = new URL('http://hook.test/x?y=1');
const get = (more: Partial<OutboundRequest> = {}): OutboundRequest => ({ method: 'GET', url, ...more });
const options = (signal = new AbortController().signal): { signal: AbortSignal; onDone: () => void } => ({
  signal,
  onDone: () => undefined,
});
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Sends `request` to a server that answers `pieces`, one in each event-loop turn, and returns the outcome as text. */
async function ask(pieces: readonly string[], request = get(), hangsUp = false): Promise<string> {
  const server = new PlayedServer();
  const pool = new Http1Pool();
  const connection = pool.adopt(server.socket);
  const answered = connection
    .exchange(request, options())
    .then(async (response) => `${response.status} ${(await collectBody(response, 1000)).toString('latin1')}`);
  const settled = answered.catch((error: unknown) => {
    assert.ok(error instanceof OutboundError, String(error));
    return `failed: ${error.message}`;
  });
  for (const piece of pieces) {
    server.says(piece);
    await turn();
  }
  if (hangsUp) server.hangsUp();
  const text = await settled;
  await turn();
  return `${text}${pool.hasIdle ? ', kept' : ''}`;
}

test('trailers are available once the body is read', async () => {
  const server = new PlayedServer();
  const answered = new Http1Pool().adopt(server.socket).exchange(get(), options());
  const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n';
  for (const piece of [`${head}2\r\nhe\r\n`, '0\r\nX-Sum:  1 \r\nno header\r\n', 'x-sum: 2\r\nother: 3\r\n\r\n']) {
    server.says(piece);
    await turn();
  }
  const answer = await answered;
  assert.ok('body' in answer);
  assert.equal((await collectBody(answer, 1000)).toString(), 'he');
  assert.deepEqual(answer.trailers?.(), { 'x-sum': ['1', '2'], other: ['3'] });
});

test('an answer is read whatever pieces it comes in, and its connection kept', async () => {
  const answers = [
    'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;x\r\nhe\r\n3\r\nllo\r\n0\r\nt: 1\r\n\r\n',
    'HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello',
  ];
  for (const answer of answers) {
    for (const size of [1, 2, 3, 7, 20, answer.length]) {
      const pieces: string[] = [];
      for (let at = 0; at < answer.length; at += size) pieces.push(answer.slice(at, at + size));
      assert.equal(await ask(pieces), '200 hello, kept', `pieces of ${size}`);
    }
  }
});

test('an answer without an end of its own ends with the connection, one with an end must have all of it', async () => {
  assert.equal(await ask(['HTTP/1.1 200 OK\r\n\r\nhel', 'lo'], get(), true), '200 hello');
  assert.equal(await ask(['HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello'], get(), true), 'failed: unexpected EOF');
  const cut = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n';
  assert.equal(await ask([cut], get(), true), 'failed: unexpected EOF');
  const within = 'failed: net/http: HTTP/1.x transport connection broken: unexpected EOF';
  assert.equal(await ask(['HTTP/1.1 200 O'], get(), true), within);
  assert.equal(await ask(['HTTP/1.1 200 OK\r\nA: b\r\n'], get(), true), within);
  assert.equal(await ask([], get(), true), 'failed: EOF');
});

test('an answer to HEAD has no body, whatever it says of one', async () => {
  assert.equal(await ask(['HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n'], get({ method: 'HEAD' })), '200 , kept');
});

test('what comes after an answer ends the connection: it is no answer to the next request', async () => {
  const smuggled = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil';
  assert.equal(await ask([smuggled]), '200 ok');
  assert.equal(await ask(['HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n', 'ok', 'HTTP/1.1 200 OK\r\n\r\n']), '200 ok');
});

test('a malformed answer is an error, and the connection is not used again', async () => {
  const broken = 'failed: net/http: HTTP/1.x transport connection broken: ';
  assert.equal(await ask(['what?\r\n']), `${broken}malformed HTTP response "what?"`);
  assert.equal(await ask(['HTTP/1.1 101 Switching Protocols\r\n\r\n']), 'failed: unexpected upgrade');
  const chunks = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
  assert.equal(await ask([`${chunks}zz\r\n`]), 'failed: malformed chunked encoding');
  assert.equal(await ask([chunks, '5\r\nhello!\r\n']), 'failed: malformed chunked encoding');
  const hint = `HTTP/1.1 103 Early Hints\r\na: ${'x'.repeat(300_000)}\r\n\r\n`;
  assert.equal(await ask([hint, hint, hint, hint]), `${broken}net/http: server response headers exceeded limit`);
});

test('a connection is kept as long as the Keep-Alive header says', async () => {
  assert.equal(await ask(['HTTP/1.1 204 No Content\r\nKeep-Alive: timeout=5, max=9\r\n\r\n']), '204 , kept');
  assert.equal(await ask(['HTTP/1.1 204 No Content\r\nKeep-Alive: timeout=0\r\n\r\n']), '204 ');
  assert.equal(await ask(['HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n']), '204 ');
});

test('the error of a server that speaks another protocol quotes its bytes', async () => {
  const reported = 'failed: net/http: HTTP/1.x transport connection broken: malformed HTTP';
  assert.equal(
    await ask(['\x15\x03\x01\x00\x02\x02F'], get(), true),
    `${reported} response "\\x15\\x03\\x01\\x00\\x02\\x02F"`,
  );
  assert.equal(await ask(['HTTP/1.1 20'], get(), true), `${reported} status code "20"`);
});

test('a request says what it is and where it ends', async () => {
  const sent = async (request: OutboundRequest): Promise<string> => {
    const server = new PlayedServer();
    const asked = new Http1Pool().adopt(server.socket).exchange(request, options());
    asked.catch(() => undefined);
    for (let i = 0; i < 5; i++) await turn();
    server.hangsUp();
    return server.received;
  };
  const line = ' /x?y=1 HTTP/1.1\r\nhost: hook.test\r\n';
  assert.equal(await sent(get()), `GET${line}\r\n`);
  assert.equal(await sent(get({ method: 'POST' })), `POST${line}content-length: 0\r\n\r\n`);
  assert.equal(await sent(get({ method: 'POST', body: 'ü' })), `POST${line}content-length: 2\r\n\r\nÃ¼`);
  const named = 'user-agent: Go-http-client/1.1\r\n';
  assert.equal(
    await sent(get({ method: 'POST', sendUserAgent: true })),
    `POST${line}${named}content-length: 0\r\n\r\n`,
  );
  const own = { method: 'POST', headers: { 'user-agent': 'me' }, sendUserAgent: true };
  assert.equal(await sent(get(own)), `POST${line}user-agent: me\r\ncontent-length: 0\r\n\r\n`);
  const several = { method: 'GET', headers: { z: '1', 'user-agent': 'me', b: '2' }, acceptGzip: true };
  const sorted = 'user-agent: me\r\nb: 2\r\nz: 1\r\naccept-encoding: gzip\r\n';
  assert.equal(await sent(get(several)), `GET${line}${sorted}\r\n`);
  // The body's own framing overrides the caller's headers.
  const wrong = { 'content-length': '100', 'transfer-encoding': 'chunked', a: ['1', '2'] };
  assert.equal(
    await sent(get({ method: 'PUT', body: Buffer.from('abc'), headers: wrong })),
    `PUT${line}content-length: 3\r\na: 1\r\na: 2\r\n\r\nabc`,
  );
  assert.equal(
    await sent(get({ method: 'POST', body: Readable.from([Buffer.from('abc'), Buffer.from('d')]) })),
    `POST${line}transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n1\r\nd\r\n0\r\n\r\n`,
  );
  const stated = { 'content-length': '4' };
  assert.equal(
    await sent(get({ method: 'POST', headers: stated, body: Readable.from([Buffer.from('abc'), Buffer.from('d')]) })),
    `POST${line}content-length: 4\r\n\r\nabcd`,
  );
});

test('nothing is sent that the server would read as more than one request', async () => {
  for (const [bad, wanted] of [
    [{ headers: { a: 'b\r\nx: y' } }, /invalid header field value for "a"/],
    [{ headers: { 'a\r\nb': 'c' } }, /invalid header field name/],
    [{ headers: { a: 'ā' } }, /invalid header field value/],
    [{ method: 'GET /y HTTP/1.1\r\n' }, /invalid method/],
    [{ target: '/x HTTP/1.1\r\nA: b' }, /invalid request target/],
    [{ target: '' }, /invalid request target/],
  ] as const) {
    const server = new PlayedServer();
    const pool = new Http1Pool();
    await assert.rejects(pool.adopt(server.socket).exchange(get(bad), options()), wanted);
    assert.deepEqual([server.received, pool.hasIdle], ['', true]);
  }
  const long = get({ method: 'POST', headers: { 'content-length': '2' }, body: Readable.from([Buffer.from('abc')]) });
  assert.match(await ask([], long), /ContentLength=2 with Body length 3/);
});

test('a kept connection that the server closes before it answers is known as such', async () => {
  const server = new PlayedServer((_piece, self) => self.says('HTTP/1.1 204 No Content\r\n\r\n'));
  const pool = new Http1Pool();
  await pool.adopt(server.socket).exchange(get(), options());
  const again = pool.take() as Http1Connection;
  const failing = again.exchange(get(), options());
  server.hangsUp();
  await assert.rejects(failing, StaleConnection);
  assert.equal(pool.take(), undefined);
});

test('a connection whose server answered before it read the request is not used again', async () => {
  const endless = new Readable({ read: () => undefined });
  const answer = 'HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n';
  assert.equal(await ask([answer], get({ method: 'POST', body: endless })), '413 ');
  assert.equal(endless.destroyed, true);
});

test('who waits no longer ends the connection, before the answer and within it', async () => {
  for (const said of ['', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe']) {
    const server = new PlayedServer();
    const controller = new AbortController();
    const asked = new Http1Pool().adopt(server.socket).exchange(get(), options(controller.signal));
    const read = asked.then((response) => collectBody(response, 100));
    server.says(said);
    await turn();
    controller.abort();
    await assert.rejects(read, /context canceled/);
    assert.equal(server.socket.destroyed, true);
  }
});

test('an answer is read no faster than its reader consumes it', async () => {
  const server = new PlayedServer();
  const asked = new Http1Pool().adopt(server.socket).exchange(get(), options());
  const piece = 'x'.repeat(10_000);
  server.says('HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n');
  const { body } = await asked;
  for (let i = 0; i < 100; i++) server.says(piece);
  for (let i = 0; i < 10; i++) await turn();
  assert.ok(body.readableLength < 200_000, `${body.readableLength}`);
  assert.equal((await collectBody({ body }, 1_000_000)).length, 1_000_000);
});

test('bytes of any kind end in an answer or an error, never in none', async () => {
  const alphabet = [
    'HTTP/1.1 ',
    '200',
    ' OK',
    '\r\n',
    '\r',
    '\n',
    'Content-Length: 3',
    'Transfer-Encoding: chunked',
    '0',
    '3',
    'abc',
    '\x00',
    ':',
    ' ',
  ];
  let seed = 7;
  const random = (below: number): number => (seed = (seed * 48271) % 2147483647) % below;
  for (let i = 0; i < 400; i++) {
    const head = random(2) === 0 ? 'HTTP/1.1 200 OK\r\n' : '';
    const pieces = [head, ...Array.from({ length: random(12) }, () => alphabet[random(alphabet.length)] as string)];
    const outcome = await ask([pieces.join('').slice(0, 200)], get(), true);
    assert.match(outcome, /^(200 |\d{3} |failed: )/);
  }
});

test('a status below those that come before an answer is one, which nobody waits behind', async () => {
  assert.equal(await ask(['HTTP/1.1 099 Own\r\nContent-Length: 2\r\n\r\nhi']), '99 ');
});
