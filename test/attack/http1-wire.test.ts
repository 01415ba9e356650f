// runs-on: every-node
// HTTP/1.1 as it stands on the wire: what is no request is refused as kube-apiserver refuses it, and nothing that a
// client sends makes the next request look other than it is.
import assert from 'node:assert/strict';
import net from 'node:net';
import { after, before, test } from 'node:test';
import type { HttpRequest, HttpResponse } from '../../src/lib/http/http.js';
import { BODY_ERRORS } from '../../src/server/listener/body-errors.js';
import { createHttp1 } from '../../src/wire/http1.js';

let server: net.Server;
let handler: (request: HttpRequest) => Promise<HttpResponse> | HttpResponse;
const http1 = createHttp1({
  bodyErrors: BODY_ERRORS,
  handler: (request) => handler(request),
  // Only of clients that went in the middle of their body.
  onError: (error) => assert.match(String(error), /unexpected EOF/),
});

before(async () => {
  server = net.createServer((socket) => http1.accept(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
after(() => server.close());

/** Everything the server says until it closes, or until `enough`. */
function talk(sent: string | readonly string[], enough?: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = net.connect((server.address() as net.AddressInfo).port, '127.0.0.1');
    let said = '';
    const done = (): void => {
      resolve(said);
      socket.destroy();
    };
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => {
      said += text;
      if (enough?.test(said)) done();
    });
    socket.on('close', done);
    socket.on('error', reject);
    for (const piece of typeof sent === 'string' ? [sent] : sent) socket.write(piece, 'latin1');
  });
}

const echo = (request: HttpRequest): HttpResponse => ({
  status: 200,
  headers: {},
  body: `${request.method} ${request.path}?${request.search}`,
});
const echoBody = async (request: HttpRequest): Promise<HttpResponse> => ({
  status: 200,
  headers: {},
  body: await request.body(1000),
});
const CLOSE = 'Host: h\r\nConnection: close\r\n\r\n';
const refused = (line: string, body = line): string =>
  `HTTP/1.1 ${line}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n${body}`;

test('what is no request gets a 400, and the connection ends', async () => {
  let requests = 0;
  handler = (request) => {
    requests++;
    return echo(request);
  };
  const bad = refused('400 Bad Request');
  const head = (...lines: string[]): string => ['GET / HTTP/1.1', ...lines, '', ''].join('\r\n');
  const cases: readonly (readonly [string, string])[] = [
    ['GET  / HTTP/1.1\r\nHost: h\r\n\r\n', bad],
    ['GET /  HTTP/1.1\r\nHost: h\r\n\r\n', bad],
    [' GET / HTTP/1.1\r\nHost: h\r\n\r\n', bad],
    ['GET /a b HTTP/1.1\r\nHost: h\r\n\r\n', bad],
    ['\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n', bad],
    ['\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n', bad],
    ['GET / HTTP/1.1\nHost: h\n\n', bad],
    ['G@T / HTTP/1.1\r\nHost: h\r\n\r\n', bad],
    ['GET api HTTP/1.1\r\nHost: h\r\n\r\n', bad],
    ['GET /%zz HTTP/1.1\r\nHost: h\r\n\r\n', bad],
    ['GET /\x01 HTTP/1.1\r\nHost: h\r\n\r\n', bad],
    ['GET / HTTP/1.1.1\r\nHost: h\r\n\r\n', bad],
    ['rubbish\r\n', bad],
    ['GET / HTTP/2.0\r\nHost: h\r\n\r\n', refused('505 HTTP Version Not Supported: unsupported protocol version')],
    [head('Host: a', 'Host: b'), bad],
    [head('Host: a', 'Host: a'), bad],
    [head(), refused('400 Bad Request: missing required Host header')],
    [head('Host: a b'), refused('400 Bad Request: malformed Host header')],
    [head('Host: h', 'no colon'), bad],
    [head('Host: h', 'name : v'), refused('400 Bad Request: invalid header name')],
    [head('Host: h', ' folded: v'), refused('400 Bad Request: invalid header name')],
    [head('Host: h', 'a: \x00'), refused('400 Bad Request: invalid header value')],
    [head('Host: h', 'a: b\nc: d'), refused('400 Bad Request: invalid header value')],
    [head('Host: h', 'Content-Length: 1', 'Content-Length: 2'), bad],
    [head('Host: h', 'Content-Length: -1'), bad],
    [head('Host: h', 'Content-Length: 1, 1, 2'), bad],
    [head('Host: h', 'Content-Length: 0x1'), bad],
    [head('Host: h', 'Content-Length: 1, 1'), bad],
    // Spaces to other readers, and not to this one.
    [head('Host: h', 'Content-Length: 1\xa0'), bad],
    [head('Host: h', 'Content-Length: 1\x0b'), refused('400 Bad Request: invalid header value')],
    [head('Host: h', 'Transfer-Encoding: \x0cchunked'), refused('400 Bad Request: invalid header value')],
    [
      head('Host: h', 'Transfer-Encoding: chunked\xa0'),
      refused('501 Not Implemented', 'Unsupported transfer encoding'),
    ],
    [head('Host: h', 'Content-Length: 3', 'Transfer-Encoding: chunked'), bad],
    [
      head('Host: h', 'Transfer-Encoding: gzip, chunked'),
      refused('501 Not Implemented', 'Unsupported transfer encoding'),
    ],
    [
      head('Host: h', 'Transfer-Encoding: chunked, chunked'),
      refused('501 Not Implemented', 'Unsupported transfer encoding'),
    ],
    [head('Host: h', 'Expect: cake'), refused('417 Expectation Failed')],
    [head('Host: h', `a: ${'x'.repeat((1 << 20) + 4096)}`), refused('431 Request Header Fields Too Large')],
  ];
  for (const [sent, wanted] of cases) assert.equal(await talk(sent), wanted, JSON.stringify(sent.slice(0, 100)));
  assert.equal(requests, 0);
});

test('a head may come in any pieces, and a header may be a mebibyte long', async () => {
  handler = ({ headers, method }) => ({ status: 200, headers: {}, body: `${method} ${headers['a']?.length}` });
  const long = `GET / HTTP/1.1\r\na: ${'x'.repeat(1 << 20)}\r\n${CLOSE}`;
  assert.match(await talk(long), /\r\n\r\nGET 1048576$/);
  const dripped = `GET / HTTP/1.1\r\na: xyz\r\n${CLOSE}`.split('');
  assert.match(await talk(dripped), /\r\n\r\nGET 3$/);
});

test('any method is a request, and so is any form of a target', async () => {
  handler = echo;
  const cases: readonly (readonly [string, string])[] = [
    ['BREW /pot', 'BREW /pot?'],
    ['CONNECT example.test:443', 'CONNECT ?'],
    ['GET http://elsewhere/a?b', 'GET /a?b'],
    ['GET http://elsewhere', 'GET ?'],
    ['GET *', 'GET *?'],
    ['GET //a/b?c?d', 'GET //a/b?c?d'],
  ];
  for (const [line, wanted] of cases) {
    const said = await talk(`${line} HTTP/1.1\r\n${CLOSE}`);
    assert.equal(said.slice(said.indexOf('\r\n\r\n') + 4), wanted, line);
  }
  assert.match(await talk(`OPTIONS * HTTP/1.1\r\n${CLOSE}`), /^HTTP\/1.1 200 OK\r\n/);
});

test('a client that waits for 100 Continue gets it only when its body is wanted', async () => {
  const sent = 'POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n';
  handler = () => ({ status: 403, headers: {}, body: 'no' });
  const refusal = await talk(sent);
  assert.match(refusal, /^HTTP\/1.1 403 Forbidden\r\n/);
  assert.match(refusal, /\r\nConnection: close\r\n/);
  handler = echoBody;
  assert.match(await talk(sent, /Continue\r\n\r\n$/), /^HTTP\/1.1 100 Continue\r\n\r\n$/);
});

test('an ordinary request that could be upgraded is answered as one, and the connection goes on', async () => {
  handler = echoBody;
  const upgrade = 'Host: h\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n';
  const said = await talk(
    `POST /a HTTP/1.1\r\n${upgrade}Content-Length: 5\r\n\r\nhelloGET /b HTTP/1.1\r\n${upgrade}\r\nPOST /c HTTP/1.1\r\nContent-Length: 3\r\n${CLOSE}end`,
  );
  assert.deepEqual(said.match(/HTTP\/1.1 \d+/g), ['HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 200']);
  assert.match(said, /\r\n\r\nhelloHTTP[^]*\r\n\r\nHTTP[^]*\r\n\r\nend$/);
});

test('requests sent at once are answered in order, each with its own body', async () => {
  handler = echoBody;
  const chunked =
    'POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\nab\r\n1\r\nc\r\n0\r\nt: v\r\n\r\n';
  const sized = 'POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\ndef\r\n';
  const bodies = (said: string): string =>
    [...said.matchAll(/Content-Length: 3\r\n\r\n(...)/g)].map(([, b]) => b).join();
  const all = chunked + sized + sized + chunked + chunked;
  const wanted = 'abc,def,def,abc,abc';
  const enough = new RegExp(`(?:[^]*?Content-Length: 3\\r\\n\\r\\n...){5}`);
  assert.equal(bodies(await talk(all, enough)), wanted);
  assert.equal(bodies(await talk(all.split(''), enough)), wanted);
});

test('a body that is no body is refused, and what follows it is no request', async () => {
  const paths: string[] = [];
  handler = async (request) => {
    paths.push(request.path);
    return {
      status: 200,
      headers: {},
      body: await request.body(1000).catch((error: Error) => `refused: ${error.message}`),
    };
  };
  const post = 'POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n';
  const bodies = [
    'zz\r\n',
    '5\r\nabcdefg\r\n',
    '3\nabc\r\n0\r\n\r\n',
    '-1\r\n',
    '1'.repeat(20),
    `1;${'x'.repeat(5000)}\r\n`,
    '3\xa0\r\nabc\r\n0\r\n\r\n',
    ' 3\r\nabc\r\n0\r\n\r\n',
    '0\r\nno trailer\r\n\r\n',
  ];
  // At once, as each connection stays open for a while after its refusal.
  const said = await Promise.all(
    bodies.map((body) => talk(`${post}${body}\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n`)),
  );
  for (const [i, answer] of said.entries()) assert.match(answer, /refused: /, bodies[i]?.slice(0, 20));
  assert.deepEqual(
    paths.toSorted(),
    bodies.map(() => '/'),
  );
});

test('a body nobody reads is passed over when it is there, and ends the connection when it is not', async () => {
  handler = ({ path }) => ({ status: 403, headers: {}, body: path });
  const post = (length: number): string => `POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: ${length}\r\n\r\nhello`;
  const kept = await talk(`${post(5)}GET /b HTTP/1.1\r\n${CLOSE}`);
  assert.deepEqual(kept.match(/HTTP\/1.1 \d+/g), ['HTTP/1.1 403', 'HTTP/1.1 403']);
  const ended = await talk(`${post(500)}GET /b HTTP/1.1\r\n${CLOSE}`);
  assert.deepEqual(ended.match(/HTTP\/1.1 \d+/g), ['HTTP/1.1 403']);
  assert.match(ended, /\r\nConnection: close\r\n/);
});

test('an old client gets an answer that ends with its connection, and keeps it only on request', async () => {
  handler = () => ({
    status: 200,
    headers: {},
    body: {
      async stream(sink) {
        sink.write('one');
        sink.write('two');
      },
    },
  });
  const plain = await talk('GET / HTTP/1.0\r\n\r\n');
  assert.match(plain, /^HTTP\/1.0 200 OK\r\nDate: [^\r]*\r\n\r\nonetwo$/);
  const chunked = await talk(`GET / HTTP/1.1\r\n${CLOSE}`);
  assert.match(chunked, /Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n$/);
  handler = echo;
  const kept = await talk('GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET / HTTP/1.0\r\n\r\n');
  assert.equal(kept.match(/HTTP\/1.0 200 OK/g)?.length, 2);
  // That the second is the last goes without saying.
  assert.deepEqual(
    kept.match(/^Connection: .*$/gm)?.map((line) => line.trim()),
    ['Connection: keep-alive'],
  );
});

test('a header of an answer begins no other', async () => {
  handler = () => ({ status: 200, headers: { 'x-a': 'b\r\nX-Evil: c' }, body: '' });
  assert.match(await talk(`GET / HTTP/1.1\r\n${CLOSE}`), /\r\nX-A: b {2}X-Evil: c\r\n/);
});

test('a client that requests much and reads nothing is not answered further', async () => {
  let requests = 0;
  const large = Buffer.alloc(4 * 1024 * 1024, 'x');
  handler = () => {
    requests++;
    return { status: 200, headers: {}, body: large };
  };
  const socket = net.connect((server.address() as net.AddressInfo).port, '127.0.0.1');
  socket.pause();
  socket.write('GET / HTTP/1.1\r\nHost: h\r\n\r\n'.repeat(1000));
  while (requests === 0) await new Promise((resolve) => setImmediate(resolve));
  for (let iteration = 0; iteration < 100; iteration++) await new Promise((resolve) => setImmediate(resolve));
  assert.ok(requests < 10, `${requests} answers wait to be read`);
  socket.destroy();
});

test('who is slow to read has all of the last answer', { timeout: 30_000 }, async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const body = Buffer.alloc(16 * 1024 * 1024, 'x');
  let isAnswered = false;
  handler = () => {
    isAnswered = true;
    return { status: 200, headers: {}, body };
  };
  const socket = net.connect((server.address() as net.AddressInfo).port, '127.0.0.1');
  socket.write(`GET / HTTP/1.1\r\n${CLOSE}`);
  while (!isAnswered) await new Promise((resolve) => setImmediate(resolve));
  for (let iteration = 0; iteration < 100; iteration++) await new Promise((resolve) => setImmediate(resolve));
  t.mock.timers.tick(60_000);
  let bytes = 0;
  for await (const chunk of socket) bytes += (chunk as Buffer).length;
  assert.ok(bytes > body.length, `${bytes} bytes`);
});

test('who is answered before all was sent has some time to read that', { timeout: 30_000 }, async () => {
  handler = () => ({ status: 413, headers: {}, body: 'too much' });
  const socket = net.connect((server.address() as net.AddressInfo).port, '127.0.0.1');
  socket.write(`POST / HTTP/1.1\r\nContent-Length: 100000000\r\n${CLOSE}`);
  let answeredMs = 0;
  socket.once('data', () => (answeredMs = performance.now()));
  // It is heard meanwhile, so that it need not stop to send.
  const sending = setInterval(() => socket.write(Buffer.alloc(64 * 1024)), 10);
  await new Promise((resolve) => socket.once('end', resolve));
  clearInterval(sending);
  socket.destroy();
  assert.ok(performance.now() - answeredMs > 300);
});
