// runs-on: every-node
// The rules of RFC 9113, one by one, in bytes. Numbers after RESET and GOAWAY are the codes of its section 7: 1 protocol,
// 3 flow control, 5 stream closed, 6 frame size, 7 refused, 9 compression, 11 enhance your calm.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HttpHandler, HttpRequest, HttpResponse, ResponseStream } from '../../lib/http/http.js';
import { Flag, FrameType } from './frames.js';
import { PREFACE } from './frame-reader.js';
import { block, type Fields, frame, GET, headers, POST, settings, TestConnection, uint32 } from './testing.js';

const ok = (body: HttpResponse['body'] = 'ok', more: HttpResponse['headers'] = {}): HttpResponse => ({
  status: 200,
  headers: more,
  body,
});
const waits: HttpHandler = () => new Promise(() => undefined);
const reads: HttpHandler = async (request) => ok(await request.body(1 << 20));
const open = (handler: HttpHandler = () => ok(), options = {}): TestConnection => new TestConnection(handler, options);
const data = (stream: number, text: string | Buffer, flags = 0): Buffer => frame(FrameType.data, flags, stream, text);

/** What the server says to bytes after the first words. */
async function says(handler: HttpHandler, ...bytes: Buffer[]): Promise<string[]> {
  const connection = open(handler);
  connection.send(...bytes);
  return connection.lines();
}
async function endsWith(code: number, ...bytes: Buffer[]): Promise<void> {
  const connection = open(waits);
  connection.send(...bytes);
  assert.match((await connection.lines()).at(-1) ?? '', new RegExp(`^GOAWAY \\d+ ${code}$`));
  assert.ok(connection.ended);
}
const resets = async (code: number, handler: HttpHandler, ...bytes: Buffer[]): Promise<void> =>
  assert.deepEqual(await says(handler, ...bytes), [`RESET 1 ${code}`]);

const WATCH: HttpHandler = ({ signal }) =>
  ok({ stream: () => new Promise((resolve) => signal.addEventListener('abort', () => resolve())) });

test('a request is answered, and the next on the same connection', async () => {
  const connection = open(({ method, path }) => ok(`${method} ${path}`));
  connection.send(headers(1), headers(3, POST));
  assert.deepEqual(await connection.lines(), [
    'HEADERS 1 200',
    'DATA 1 GET / END',
    'HEADERS 3 200',
    'DATA 3 POST / END',
  ]);
});

test('bytes may come one by one', async () => {
  const connection = open(reads, { greeted: false });
  const all = Buffer.concat([PREFACE, settings(), headers(1, POST, 0), data(1, 'body', Flag.endStream), headers(3)]);
  for (const byte of all) connection.send(Buffer.of(byte));
  assert.deepEqual(await connection.lines(), ['HEADERS 1 200', 'DATA 1 body END', 'HEADERS 3 200 END']);
});

test('answers of one event-loop turn share one write', async () => {
  const connection = open();
  await connection.frames();
  const before = connection.written.length;
  connection.send(headers(1), headers(3), headers(5));
  connection.send(headers(7));
  assert.equal((await connection.frames()).length, 8);
  assert.equal(connection.written.length, before + 1);
});

test('3.4: what does not begin as HTTP/2 is none', async () => {
  const connection = open(waits, { greeted: false });
  connection.send(Buffer.from('GET / HTTP/1.1\r\nHost: a\r\n\r\n'));
  assert.deepEqual(await connection.lines(), ['GOAWAY 0 1']);
});

test('3.4: settings come first', async () => {
  for (const first of [headers(1), frame(FrameType.ping, 0, 0, '12345678'), frame(FrameType.settings, Flag.ack, 0)]) {
    const connection = open(waits, { greeted: false });
    connection.send(PREFACE, first);
    assert.deepEqual(await connection.lines(), ['GOAWAY 0 1']);
  }
});

test('4.1: unknown frames and flags are ignored', async () => {
  const lines = await says(() => ok(), frame(0x77, 0xff, 5, 'x'), headers(1, GET, Flag.endStream | 0xd2));
  assert.deepEqual(lines, ['HEADERS 1 200', 'DATA 1 ok END']);
});

test('4.2: a frame may have 256 KiB and no byte more', async () => {
  const length: HttpHandler = async (request) => ok(String((await request.body(1 << 20)).length));
  const lines = await says(length, headers(1, POST, 0), data(1, Buffer.alloc(262_144), Flag.endStream));
  assert.deepEqual(lines, ['HEADERS 1 200', 'DATA 1 262144 END']);
  await endsWith(6, headers(1, POST, 0), frame(FrameType.data, 0, 1, Buffer.alloc(262_145)));
});

test('4.3: a block that does not decode ends the connection', async () => {
  await endsWith(9, frame(FrameType.headers, Flag.endHeaders | Flag.endStream, 1, Buffer.from('ff', 'hex')));
});

test('5.1: on a stream that has not begun only HEADERS and PRIORITY may come', async () => {
  await endsWith(1, data(1, 'x'));
  await endsWith(1, frame(FrameType.resetStream, 0, 1, uint32(8)));
  await endsWith(1, frame(FrameType.windowUpdate, 0, 1, uint32(1)));
  assert.deepEqual(await says(waits, frame(FrameType.priority, 0, 1, Buffer.alloc(5))), []);
});

test('5.1: a body after the end of the request is refused', async () => {
  await resets(5, waits, headers(1), data(1, 'x'));
  assert.deepEqual(await says(() => ok(''), headers(1), data(1, 'x')), ['HEADERS 1 200 END', 'RESET 1 5']);
});

test('5.1: headers after the end of the request are refused', async () => {
  await resets(5, waits, headers(1), headers(1));
  await endsWith(5, headers(3), frame(FrameType.resetStream, 0, 3, uint32(8)), headers(3));
});

test('5.1: what was under way when we reset a stream is ignored, and counts in the window', async () => {
  const lines = await says(
    () => ok('no'),
    headers(1, POST, 0),
    data(1, 'on its way'),
    headers(1, [['x', 'trailer']]),
    frame(FrameType.windowUpdate, 0, 1, uint32(5)),
    headers(3),
  );
  assert.deepEqual(lines, ['HEADERS 1 200', 'DATA 1 no END', 'HEADERS 3 200', 'DATA 3 no END', 'RESET 1 0']);
});

test('5.1: a window or a reset for a stream that is over is ignored', async () => {
  const lines = await says(
    () => ok(''),
    headers(1),
    frame(FrameType.windowUpdate, 0, 1, uint32(5)),
    frame(FrameType.resetStream, 0, 1, uint32(8)),
  );
  assert.deepEqual(lines, ['HEADERS 1 200 END']);
});

test('5.1.1: ids are odd and only grow', async () => {
  await endsWith(1, headers(2));
  await endsWith(1, headers(0));
  await endsWith(1, headers(5), headers(3));
});

test('5.1.2: a stream too many is refused, and may be tried again', async () => {
  const connection = open(waits, { maxStreams: 2 });
  connection.send(headers(1), headers(3), headers(5));
  assert.deepEqual(await connection.lines(), ['RESET 5 7']);
  connection.send(frame(FrameType.resetStream, 0, 1, uint32(8)), headers(7));
  assert.deepEqual(await connection.lines(), []);
});

test("5.4.2: a reset aborts the handler's signal", async () => {
  let reason: unknown;
  const connection = open((request) => {
    request.signal.addEventListener('abort', () => (reason = request.signal.reason));
    return new Promise(() => undefined);
  });
  connection.send(headers(1), frame(FrameType.resetStream, 0, 1, uint32(8)));
  assert.match(String(reason), /the client is gone/);
});

test('reading the body of a stream that is reset fails with its error code', async () => {
  const reported: string[] = [];
  const connection = open((request) =>
    request.body(10).then(
      () => ok(),
      (e: Error) => ok(void reported.push(e.message)),
    ),
  );
  const reset = (stream: number, code: number): Buffer => frame(FrameType.resetStream, 0, stream, uint32(code));
  connection.send(headers(1, POST, 0), reset(1, 8), headers(3, POST, 0), reset(3, 77));
  await connection.lines();
  assert.deepEqual(reported, [
    'stream error: stream ID 1; CANCEL',
    'stream error: stream ID 3; unknown error code 0x4d',
  ]);
});

test('reading a body fails with NO_ERROR once the request is answered', async () => {
  let reported = '';
  const connection = open((request) => {
    request.body(10).catch((error: Error) => (reported = error.message));
    return ok();
  });
  connection.send(headers(1, POST, 0));
  await connection.lines();
  assert.equal(reported, 'stream error: stream ID 1; NO_ERROR');
});

test('6.1: padding is no content and counts in the window', async () => {
  const padded = Buffer.concat([Buffer.of(3), Buffer.from('body'), Buffer.alloc(3)]);
  const lines = await says(reads, headers(1, POST, 0), data(1, padded, Flag.padded | Flag.endStream));
  assert.deepEqual(lines, ['HEADERS 1 200', 'DATA 1 body END']);
});

test('6.1: a body is on a stream, and its padding inside it', async () => {
  await endsWith(1, data(0, 'x'));
  await endsWith(1, headers(1, POST, 0), data(1, Buffer.of(1), Flag.padded));
  await endsWith(6, headers(1, POST, 0), data(1, '', Flag.padded));
});

test('6.2: headers may be padded and have a priority, which says nothing', async () => {
  const inner = block(GET);
  const whole = Buffer.concat([Buffer.of(4), Buffer.alloc(5), inner, Buffer.alloc(4)]);
  const flags = Flag.padded | Flag.priority | Flag.endHeaders | Flag.endStream;
  assert.deepEqual(await says(() => ok(), frame(FrameType.headers, flags, 1, whole)), [
    'HEADERS 1 200',
    'DATA 1 ok END',
  ]);
  await endsWith(1, frame(FrameType.headers, flags, 1, Buffer.of(200, 0, 0, 0, 0, 0, 0x82)));
  await endsWith(6, frame(FrameType.headers, Flag.priority | Flag.endHeaders, 1, Buffer.alloc(4)));
  await endsWith(6, frame(FrameType.headers, Flag.padded | Flag.endHeaders, 1, ''));
});

test('6.3: a priority has five bytes and a stream', async () => {
  await endsWith(1, frame(FrameType.priority, 0, 0, Buffer.alloc(5)));
  await resets(6, waits, headers(1), frame(FrameType.priority, 0, 1, Buffer.alloc(4)));
  await endsWith(6, frame(FrameType.priority, 0, 1, Buffer.alloc(4)));
});

test('6.4: a reset has four bytes and a stream', async () => {
  await endsWith(1, frame(FrameType.resetStream, 0, 0, uint32(8)));
  await endsWith(6, headers(1), frame(FrameType.resetStream, 0, 1, 'xyz'));
});

test('6.5: settings are whole, on no stream, and acknowledged', async () => {
  await endsWith(6, frame(FrameType.settings, 0, 0, 'x'));
  await endsWith(1, frame(FrameType.settings, 0, 1, ''));
  await endsWith(6, frame(FrameType.settings, Flag.ack, 0, Buffer.alloc(6)));
  await endsWith(1, frame(FrameType.settings, Flag.ack, 0));
  const connection = open(waits);
  await connection.frames();
  const before = connection.written.length;
  connection.send(settings({ 0x99: 5 }));
  await connection.frames();
  assert.deepEqual(connection.written.slice(before), [frame(FrameType.settings, Flag.ack, 0)]);
});

test('6.5.2: values that cannot be are refused', async () => {
  await endsWith(1, settings({ 2: 2 }));
  await endsWith(3, settings({ 4: 0x80000000 }));
  await endsWith(1, settings({ 5: 16_383 }));
  await endsWith(1, settings({ 5: 0x1000000 }));
  assert.deepEqual(await says(waits, settings({ 1: 0, 2: 0, 3: 0, 4: 0x7fffffff, 5: 0xffffff, 6: 0, 8: 1 })), []);
});

test('6.6: a client promises nothing', () => endsWith(1, headers(1), frame(FrameType.pushPromise, 4, 1, uint32(2))));

test('6.7: a ping is answered with its own words', async () => {
  assert.deepEqual(await says(waits, frame(FrameType.ping, 0, 0, 'abcdefgh')), ['PING 1 abcdefgh']);
  assert.deepEqual(await says(waits, frame(FrameType.ping, Flag.ack, 0, 'abcdefgh')), []);
  await endsWith(6, frame(FrameType.ping, 0, 0, 'abc'));
  await endsWith(1, frame(FrameType.ping, 0, 1, 'abcdefgh'));
});

test('6.8: a client that leaves has its answers first', async () => {
  let answer = (_: HttpResponse): void => undefined;
  const connection = open(() => new Promise((resolve) => (answer = resolve)));
  connection.send(headers(1), frame(FrameType.goaway, 0, 0, uint32(0, 0)), headers(3));
  assert.deepEqual(await connection.lines(), ['GOAWAY 1 0']);
  assert.ok(!connection.ended);
  answer(ok());
  assert.deepEqual(await connection.lines(), ['HEADERS 1 200', 'DATA 1 ok END']);
  assert.ok(connection.ended);
  await endsWith(1, frame(FrameType.goaway, 0, 1, uint32(0, 0)));
  await endsWith(6, frame(FrameType.goaway, 0, 0, uint32(0)));
});

test('6.8: streams beyond the last that was promised are ignored, but their headers are read', async () => {
  const connection = open(waits);
  connection.send(headers(1));
  connection.connection.retire();
  const fromTable = Buffer.from('8287844101614001780179', 'hex');
  connection.send(frame(FrameType.headers, Flag.endHeaders, 3, fromTable));
  connection.send(data(3, 'x', Flag.endStream));
  assert.deepEqual(await connection.lines(), ['GOAWAY 1 0']);
  assert.ok(!connection.ended);
  // Both fields of the ignored request are in the table; a third is in none. The last stream does not grow.
  connection.send(frame(FrameType.headers, Flag.endHeaders, 5, Buffer.from('828784bebf', 'hex')));
  connection.send(frame(FrameType.headers, Flag.endHeaders, 7, Buffer.from('c0', 'hex')));
  assert.deepEqual(await connection.lines(), ['GOAWAY 1 9']);
});

test('6.9: a body waits for the windows of its stream and of all', async () => {
  const connection = open(({ path }) => ok(Buffer.alloc(path === '/' ? 70_000 : 10)));
  connection.send(headers(1));
  const sent = (frames: Awaited<ReturnType<TestConnection['frames']>>): number =>
    frames.reduce((sum, { type, payload }) => sum + (type === FrameType.data ? payload.length : 0), 0);
  assert.equal(sent(await connection.frames()), 65_535);
  connection.send(frame(FrameType.windowUpdate, 0, 1, uint32(10_000)));
  assert.equal(sent(await connection.frames()), 0);
  connection.send(frame(FrameType.windowUpdate, 0, 0, uint32(100)));
  assert.equal(sent(await connection.frames()), 100);
  connection.send(headers(3, [...GET.slice(0, 2), [':path', '/small']]));
  connection.send(frame(FrameType.windowUpdate, 0, 0, uint32(100_000)));
  const rest = await connection.frames();
  assert.equal(sent(rest), 70_000 - 65_535 - 100 + 10);
  assert.equal(rest.filter(({ flags, type }) => type === FrameType.data && flags === Flag.endStream).length, 2);
});

test('6.9: a window widens by something, and not beyond what can be counted', async () => {
  await endsWith(1, frame(FrameType.windowUpdate, 0, 0, uint32(0)));
  await resets(1, waits, headers(1), frame(FrameType.windowUpdate, 0, 1, uint32(0)));
  await endsWith(3, frame(FrameType.windowUpdate, 0, 0, uint32(0x7fffffff)));
  await resets(3, waits, headers(1), frame(FrameType.windowUpdate, 0, 1, uint32(0x7fffffff)));
  await endsWith(6, frame(FrameType.windowUpdate, 0, 0, 'xyz'));
});

test('6.9.1: more body than the window of the stream resets it, more than that of all ends the connection', async () => {
  const full = data(1, Buffer.alloc(262_144));
  await resets(3, waits, headers(1, POST, 0), full, data(1, 'x'));
  const connection = open(waits, { maxStreams: 1 });
  connection.send(headers(1, POST, 0), full);
  assert.deepEqual(await connection.lines(), []);
});

test('6.9.2: changed settings change the windows of open streams, also below nothing', async () => {
  const connection = open(() => ok(Buffer.alloc(100)));
  connection.send(settings({ 4: 60 }), headers(1));
  assert.deepEqual(await connection.lines(), ['HEADERS 1 200', 'DATA 1 60']);
  connection.send(settings({ 4: 10 }), frame(FrameType.windowUpdate, 0, 1, uint32(50)));
  assert.deepEqual(await connection.lines(), []);
  connection.send(frame(FrameType.windowUpdate, 0, 1, uint32(1)));
  assert.equal((await connection.frames())[0]?.payload.length, 1);
  connection.send(settings({ 4: 1000 }));
  assert.deepEqual(await connection.lines(), ['DATA 1 39 END']);
  await endsWith(3, headers(1), frame(FrameType.windowUpdate, 0, 1, uint32(0x7ffe0000)), settings({ 4: 200_000 }));
});

test('6.9: WINDOW_UPDATE is sent for the connection and for a stream whose body is read', async () => {
  const connection = open(reads);
  const piece = data(1, Buffer.alloc(100_000));
  connection.send(headers(1, POST, 0), piece, piece);
  assert.deepEqual(await connection.lines(), ['WINDOW 1 200000']);
  const unread = open(waits);
  unread.send(headers(1, POST, 0), piece, piece);
  assert.deepEqual(await unread.lines(), []);
});

test('6.10: a block may come in pieces, and nothing else between them', async () => {
  const inner = block(GET);
  const first = frame(FrameType.headers, Flag.endStream, 1, inner.subarray(0, 3));
  const middle = frame(FrameType.continuation, 0, 1, inner.subarray(3, 5));
  const last = frame(FrameType.continuation, Flag.endHeaders, 1, inner.subarray(5));
  assert.deepEqual(await says(() => ok(), first, middle, last), ['HEADERS 1 200', 'DATA 1 ok END']);
  await endsWith(1, last);
  await endsWith(1, first, headers(3));
  await endsWith(1, first, data(1, 'x'));
  await endsWith(1, first, frame(FrameType.ping, 0, 0, 'abcdefgh'));
  await endsWith(1, first, frame(0x77, 0, 0, ''));
  await endsWith(1, first, frame(FrameType.continuation, Flag.endHeaders, 3, inner.subarray(3)));
});

test('8.1: trailers end a body, and only that', async () => {
  const trailers: Fields = [['x-sum', '1']];
  const begun = [headers(1, POST, 0), data(1, 'body')];
  assert.deepEqual(await says(reads, ...begun, headers(1, trailers)), ['HEADERS 1 200', 'DATA 1 body END']);
  await resets(1, waits, ...begun, headers(1, trailers, 0));
  await resets(1, waits, ...begun, headers(1, [[':path', '/']]));
  await resets(1, waits, ...begun, headers(1, [['X-Sum', '1']]));
});

test('8.1: trailers of an answer end it after the last of its body', async () => {
  const trailing: HttpHandler = () => ({
    status: 200,
    headers: { trailer: 'X-Sum' },
    body: {
      async stream(sink) {
        sink.write('body');
        await sink.drained();
        sink.trail?.({ 'x-sum': ['1'], connection: 'x' });
      },
    },
  });
  const lines = await says(trailing, headers(1));
  assert.deepEqual(lines, ['HEADERS 1 200', 'DATA 1 body', 'HEADERS 1 1 END']);
});

const MALFORMED: Readonly<Record<string, Fields>> = {
  'no method': GET.slice(1),
  'no scheme': GET.filter(([name]) => name !== ':scheme'),
  'another scheme': GET.map(([name, value]) => [name, name === ':scheme' ? 'ftp' : value]),
  'no path': GET.filter(([name]) => name !== ':path'),
  'an empty path': GET.map(([name, value]) => [name, name === ':path' ? '' : value]),
  'a path that is none': GET.map(([name, value]) => [name, name === ':path' ? 'api' : value]),
  'a path with a space': GET.map(([name, value]) => [name, name === ':path' ? '/a b' : value]),
  'a broken escape': GET.map(([name, value]) => [name, name === ':path' ? '/%zz' : value]),
  'a method that is no word': GET.map(([name, value]) => [name, name === ':method' ? 'GE T' : value]),
  'a pseudo field twice': [...GET, [':path', '/']],
  'a pseudo field of answers': [...GET, [':status', '200']],
  'a pseudo field that is unknown': [...GET, [':protocol', 'websocket']],
  'a pseudo field named as what all objects have': [...GET, [':constructor', 'x']],
  'a pseudo field after others': [['x', 'y'], ...GET],
  'a name in upper case': [...GET, ['X-Y', 'z']],
  'a name that is none': [...GET, ['x y', 'z']],
  'an empty name': [...GET, ['', 'z']],
  connection: [...GET, ['connection', 'close']],
  'proxy-connection': [...GET, ['proxy-connection', 'close']],
  'keep-alive': [...GET, ['keep-alive', '1']],
  'transfer-encoding': [...GET, ['transfer-encoding', 'chunked']],
  upgrade: [...GET, ['upgrade', 'websocket']],
  'te other than trailers': [...GET, ['te', 'gzip']],
  'a control character': [...GET, ['x', 'a\x01b']],
  'two hosts': [...GET.slice(0, 3), ['host', 'a'], ['host', 'a']],
  'a host beside another authority': [...GET, ['host', 'b']],
  'a name in the authority': [...GET.slice(0, 3), [':authority', 'me@a']],
  'a length that is none': [...GET, ['content-length', '1x']],
  'two lengths': [...GET, ['content-length', '1'], ['content-length', '2']],
  'CONNECT with a path': [[':method', 'CONNECT'], ...GET.slice(1)],
  'CONNECT to nobody': [[':method', 'CONNECT']],
};
for (const [what, fields] of Object.entries(MALFORMED)) {
  test(`8.2, 8.3: malformed: ${what}`, async () => {
    const connection = open(() => ok());
    connection.send(headers(1, fields), headers(3));
    assert.deepEqual(await connection.lines(), ['RESET 1 1', 'HEADERS 3 200', 'DATA 3 ok END']);
  });
}

test('8.2.1: line ends and zeroes inside a value are refused', async () => {
  for (const byte of [0x00, 0x0a, 0x0d]) {
    const field = Buffer.concat([Buffer.from('0001780361', 'hex'), Buffer.of(byte), Buffer.from('b')]);
    await resets(1, () => ok(), frame(FrameType.headers, 5, 1, Buffer.concat([block(GET), field])));
  }
});

test('8.3: what is well formed arrives as it was sent', async () => {
  let seen: HttpRequest | undefined;
  const connection = open((request) => {
    seen = request;
    return ok('');
  });
  const more: Fields = [
    ['te', 'trailers'],
    ['cookie', 'a=1'],
    ['cookie', 'b=2'],
    ['x-many', '1'],
    ['x-many', '2'],
    ['x-spaces', ' 1\t'],
    ['__proto__', 'x'],
    ['host', 'A'],
  ];
  connection.send(headers(1, [...GET.slice(0, 2), [':path', '/a%20b?c=d'], [':authority', 'a'], ...more]));
  await connection.frames();
  assert.deepEqual(
    [seen?.method, seen?.path, seen?.search, seen?.host, seen?.query.get('c'), seen?.httpVersion, seen?.remoteAddress],
    ['GET', '/a%20b', 'c=d', 'a', 'd', '2.0', '192.0.2.1:1234'],
  );
  assert.deepEqual(seen?.rawHeaders, more.flat());
  for (const name of ['constructor', 'toString']) assert.equal(seen?.headers[name], undefined);
  assert.deepEqual(
    { ...seen?.headers },
    Object.fromEntries([
      ['te', 'trailers'],
      ['cookie', 'a=1; b=2'],
      ['x-many', '1, 2'],
      ['x-spaces', ' 1\t'],
      ['__proto__', 'x'],
      ['host', 'A'],
    ]),
  );
});

test('8.1.1: a body that is longer than declared is refused, a shorter one cannot be read', async () => {
  const declared: Fields = [...POST, ['content-length', '4']];
  assert.deepEqual(await says(reads, headers(1, declared, 0), data(1, 'bo'), data(1, 'dy', Flag.endStream)), [
    'HEADERS 1 200',
    'DATA 1 body END',
  ]);
  await resets(1, waits, headers(1, declared, 0), data(1, 'body!'));
  const short: string[] = [];
  const tells = (request: HttpRequest): Promise<HttpResponse> =>
    request.body(10).then(
      () => ok(),
      (error: Error) => {
        short.push(error.message);
        return ok();
      },
    );
  const answered = ['HEADERS 1 200', 'DATA 1 ok END'];
  assert.deepEqual(await says(tells, headers(1, declared, 0), data(1, 'bod', Flag.endStream)), answered);
  assert.deepEqual(await says(tells, headers(1, declared, 0), data(1, 'bod'), headers(1, [['x', 'y']])), answered);
  const why = 'request declared a Content-Length of 4 but only wrote 3 bytes';
  assert.deepEqual(short, [why, why]);
});

test('8.1.1: one that ends with its head has no body, whatever it declares', async () => {
  assert.deepEqual(await says(reads, headers(1, [...POST, ['content-length', '4']])), ['HEADERS 1 200 END']);
});

test('8.1: an answer before the end of the body stops the upload with RST_STREAM', async () => {
  assert.deepEqual(await says(() => ok('no'), headers(1, POST, 0)), ['HEADERS 1 200', 'DATA 1 no END', 'RESET 1 0']);
});

test('8.1: what nobody can answer is reset with an error of ours', async () => {
  for (const handler of [
    (): HttpResponse => {
      throw new Error('bug');
    },
    (): Promise<HttpResponse> => Promise.reject(new Error('bug')),
  ]) {
    const connection = open(handler);
    connection.send(headers(1), frame(FrameType.ping, 0, 0, 'abcdefgh'));
    assert.deepEqual((await connection.lines()).toSorted(), ['PING 1 abcdefgh', 'RESET 1 2']);
    assert.equal(connection.errors.length, 1);
  }
});

test('8.8: HEAD and bodies that there are not', async () => {
  const head: Fields = [[':method', 'HEAD'], ...GET.slice(1)];
  assert.deepEqual(await says(() => ok('text'), headers(1, head)), ['HEADERS 1 200 END']);
  assert.deepEqual(await says(WATCH, headers(1, head)), ['HEADERS 1 200 END']);
  assert.deepEqual(await says(() => ok(''), headers(1)), ['HEADERS 1 200 END']);
  const none = await says(() => ({ status: 204, headers: {}, body: 'x' }), headers(1));
  assert.deepEqual(none, ['HEADERS 1 204 END']);
});

test('an answer has a date and a length, and nothing about the connection', async () => {
  const connection = open(() =>
    ok(
      ['a', 'bc'].map((text) => Buffer.from(text)),
      { 'x-a': ['1', '2'], 'keep-alive': 'x' },
    ),
  );
  connection.send(headers(1));
  const [head] = await connection.frames();
  const fields = connection.fieldsOf(head!);
  assert.match(fields[fields.indexOf('date') + 1] ?? '', /^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/);
  const rest = fields.filter((field, i) => field !== 'date' && fields[i - 1] !== 'date');
  assert.deepEqual(rest, [':status', '200', 'x-a', '1', 'x-a', '2', 'content-length', '3']);
});

test('a head that is longer than a frame is continued', async () => {
  const long = 'x'.repeat(40_000);
  const connection = open(() => ok('', { warning: long }));
  connection.send(headers(1));
  const frames = await connection.frames();
  assert.deepEqual(
    frames.map(({ type, flags, payload }) => [type, flags, payload.length > 0]),
    [
      [FrameType.headers, Flag.endStream, true],
      [FrameType.continuation, 0, true],
      [FrameType.continuation, Flag.endHeaders, true],
    ],
  );
  const payload = Buffer.concat(frames.map((one) => one.payload));
  assert.ok(connection.fieldsOf({ ...frames[0]!, payload }).includes(long));
});

test('connection: close is the last answer of a connection', async () => {
  const connection = open(() => ok('x', { connection: 'close' }));
  connection.send(headers(1));
  assert.deepEqual(await connection.lines(), ['HEADERS 1 200', 'GOAWAY 1 0', 'DATA 1 x END']);
  assert.ok(connection.ended);
});

test('an idle connection ends, one with a watch does not', async () => {
  const idle = open();
  idle.idle();
  assert.deepEqual(await idle.lines(), ['GOAWAY 0 0']);
  assert.ok(idle.ended);
  const watching = open(WATCH);
  watching.send(headers(1));
  watching.idle();
  assert.deepEqual(await watching.lines(), ['HEADERS 1 200']);
  watching.hangUp();
});

test('100 Continue is said when the body is wanted and has not come', async () => {
  const expecting: Fields = [...POST, ['expect', '100-continue']];
  const connection = open(reads);
  connection.send(headers(1, expecting, 0));
  assert.deepEqual(await connection.lines(), ['HEADERS 1 100']);
  connection.send(data(1, 'x', Flag.endStream));
  assert.deepEqual(await connection.lines(), ['HEADERS 1 200', 'DATA 1 x END']);
  assert.deepEqual(await says(() => ok('no'), headers(1, expecting, 0)), [
    'HEADERS 1 200',
    'DATA 1 no END',
    'RESET 1 0',
  ]);
});

test('a request that is sent again has the same head, which nobody can change', async () => {
  const seen: HttpRequest[] = [];
  const connection = open((request) => {
    seen.push(request);
    return ok('');
  });
  const fields: Fields = [...GET, ['x-remote-user', 'jane']];
  connection.send(headers(1, fields), headers(3, fields));
  await connection.frames();
  assert.equal(seen[0]?.headers, seen[1]?.headers);
  assert.throws(() => delete (seen[0]!.headers as Record<string, string>)['x-remote-user'], TypeError);
  assert.throws(() => (seen[0]!.rawHeaders as string[]).push('x'), TypeError);
  seen[0]!.headers = {};
  assert.equal(seen[1]?.headers['x-remote-user'], 'jane');
});

test('requests for other paths share their headers, those with other headers do not', async () => {
  const seen: HttpRequest[] = [];
  const connection = open((request) => {
    seen.push(request);
    return ok('');
  });
  const asked = (path: string, agent: string): Fields => [...GET.slice(0, 2), [':path', path], ['user-agent', agent]];
  connection.send(headers(1, asked('/a', 'x')), headers(3, asked('/b', 'x')), headers(5, asked('/b', 'y')));
  await connection.frames();
  assert.deepEqual(
    seen.map(({ path, headers: { 'user-agent': agent } }) => [path, agent]),
    [
      ['/a', 'x'],
      ['/b', 'x'],
      ['/b', 'y'],
    ],
  );
  assert.equal(seen[0]?.headers, seen[1]?.headers);
  assert.ok(Object.isFrozen(seen[2]?.headers) && Object.isFrozen(seen[2]?.rawHeaders));
});

test('a large head is not cached', async () => {
  const seen: HttpRequest[] = [];
  const connection = open((request) => {
    seen.push(request);
    return ok('');
  });
  const large: Fields = [...GET, ['x', 'y'.repeat(20_000)]];
  connection.send(headers(1, large), headers(3, large));
  await connection.frames();
  assert.equal(seen.length, 2);
  assert.notEqual(seen[0]?.headers, seen[1]?.headers);
});

test('pieces written in one event-loop turn share a frame, and all streams a write', async () => {
  const sinks: ((text: string) => void)[] = [];
  const connection = open(() =>
    ok({
      stream: (sink) => {
        sinks.push((text) => void sink.write(text));
        return new Promise(() => undefined);
      },
    }),
  );
  connection.send(headers(1), headers(3));
  await connection.frames();
  const before = connection.written.length;
  for (const write of sinks) for (const text of ['a', 'b', 'c']) write(text);
  assert.deepEqual(await connection.lines(), ['DATA 1 abc', 'DATA 3 abc']);
  assert.equal(connection.written.length, before + 1);
  connection.hangUp();
});

test('who says that it was the last piece has the end leave with it', async () => {
  const answer =
    (body: ResponseStream): HttpHandler =>
    () => ({ status: 200, headers: {}, body });
  const said = answer({
    async stream(sink) {
      sink.write('piece');
      sink.last?.();
      await sink.drained();
    },
  });
  assert.deepEqual(await says(said, headers(1)), ['HEADERS 1 200', 'DATA 1 piece END']);
  const silent = answer({
    async stream(sink) {
      sink.write('piece');
      await sink.drained();
    },
  });
  assert.deepEqual(await says(silent, headers(1)), ['HEADERS 1 200', 'DATA 1 piece', 'DATA 1  END']);
});

test('writes to a client that does not read meet back pressure, and go on when it has read', async () => {
  let wrote = 0;
  const connection = open(() =>
    ok({
      async stream(sink) {
        while (wrote < 50) {
          wrote++;
          if (!sink.write(Buffer.alloc(10_000))) await sink.drained();
        }
      },
    }),
  );
  connection.send(frame(FrameType.windowUpdate, 0, 0, uint32(1 << 24)), headers(1));
  await connection.frames();
  assert.ok(wrote < 12, String(wrote));
  connection.send(frame(FrameType.windowUpdate, 0, 1, uint32(1 << 24)));
  let sent = 0;
  for (let i = 0; i < 50 && sent < 434_465; i++)
    for (const { payload } of await connection.frames()) sent += payload.length;
  assert.equal(wrote, 50);
  assert.equal(sent, 500_000 - 65_535);
});

test('streams send round robin, so that a large answer does not delay a small one', async () => {
  const connection = open(({ path }) => ok(Buffer.alloc(path === '/' ? 200_000 : 30_000)));
  connection.send(settings({ 4: 1 << 24 }), headers(1), headers(3, [...GET.slice(0, 2), [':path', '/small']]));
  connection.send(frame(FrameType.windowUpdate, 0, 0, uint32(1 << 24)));
  const order = (await connection.frames()).filter(({ type }) => type === FrameType.data).map(({ stream }) => stream);
  assert.ok(order.indexOf(3) < 4, order.join(' '));
  assert.ok(order.lastIndexOf(3) < order.lastIndexOf(1), order.join(' '));
});

test('a client that does not read is not heard beyond what may wait for it, and then again', async () => {
  let asked = 0;
  const connection = open(() => {
    asked++;
    return ok(Buffer.alloc(1000));
  });
  connection.send(settings({ 4: 1 << 24 }), frame(FrameType.windowUpdate, 0, 0, uint32(1 << 24)));
  await connection.frames();
  connection.hold();
  connection.send(headers(1));
  await connection.frames();
  for (let id = 3; !connection.paused; id += 2) connection.send(headers(id), frame(FrameType.ping, 0, 0, 'abcdefgh'));
  assert.ok(asked < 250, String(asked));
  connection.release();
  await connection.frames();
  assert.ok(!connection.paused);
});

test('thousands of requests that arrive at once begin over many event-loop turns, and all are answered', async () => {
  let nowMs = 0;
  let begun = 0;
  const connection = open(
    ({ path }) => {
      begun++;
      nowMs++;
      return ok(path === '/' ? '' : 'last');
    },
    { nowMs: () => nowMs },
  );
  const last: Fields = GET.map(([name, value]) => [name, name === ':path' ? '/last' : value]);
  connection.send(...Array.from({ length: 300 }, (_, i) => headers(1 + 2 * i)), headers(601, last));
  assert.equal(begun, 6);
  assert.ok(connection.paused);
  // What comes meanwhile is read after it.
  connection.send(headers(603));
  assert.equal(begun, 6);
  const seen: string[] = [];
  for (let i = 0; i < 100 && begun < 302; i++) seen.push(...(await connection.lines()));
  seen.push(...(await connection.lines()));
  assert.equal(begun, 302);
  assert.equal(seen.filter((line) => line.startsWith('HEADERS')).length, 302);
  assert.deepEqual(seen.slice(-3), ['HEADERS 601 200', 'DATA 601 last END', 'HEADERS 603 200 END']);
  assert.ok(!connection.paused);
});

test('what waits of a client that does not read is not begun before it has', async () => {
  let nowMs = 0;
  let begun = 0;
  // Heads alone fill what may wait.
  const large: HttpResponse = ok(undefined, { 'x-large': 'x'.repeat(60_000) });
  const connection = open(
    () => {
      begun++;
      nowMs++;
      return large;
    },
    { nowMs: () => nowMs },
  );
  await connection.frames();
  connection.hold();
  connection.send(...Array.from({ length: 90 }, (_, i) => headers(1 + 2 * i)));
  for (let i = 0; i < 20; i++) await connection.frames();
  assert.ok(begun < 20, `${begun} were begun`);
  connection.release();
  for (let i = 0; i < 20; i++) await connection.frames();
  assert.equal(begun, 90);
});

test('a client that reads nothing of the answers in flight is disconnected', async () => {
  const connection = open(WATCH);
  await connection.frames();
  connection.hold();
  connection.send(headers(1));
  await connection.frames();
  connection.idle();
  assert.ok(connection.ended);
  await connection.frames();
  assert.equal(connection.connection.streams.size, 0);
});

test('the largest number of streams that a flag allows has valid windows', async () => {
  const connection = open(waits, { maxStreams: 1_000_000, greeted: false });
  await connection.frames();
  const first = connection.written[0]!;
  const window = first.subarray(first.length - 13);
  assert.deepEqual(window, frame(FrameType.windowUpdate, 0, 0, uint32(0x7fffffff - 65_535)));
});

test('a client says its first words soon, and ends what it began to say', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const silent = open(waits, { greeted: false });
  t.mock.timers.tick(10_001);
  assert.ok(silent.ended);
  const halves = [
    frame(FrameType.headers, Flag.endStream, 1, block(GET).subarray(0, 3)),
    headers(1).subarray(0, 12),
    headers(1).subarray(0, 5),
  ];
  for (const half of halves) {
    const connection = open(waits);
    connection.send(half);
    t.mock.timers.tick(31_000);
    assert.ok(!connection.ended);
    t.mock.timers.tick(1500);
    assert.ok(connection.ended);
  }
  const whole = open(waits);
  whole.send(headers(1).subarray(0, 12));
  whole.send(headers(1).subarray(12));
  t.mock.timers.tick(100_000);
  assert.ok(!whole.ended);
  whole.hangUp();
  // What closes clears its timers while they are still these ones.
  await whole.frames();
});

test('a client that got GOAWAY and does not close is disconnected', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const connection = open(waits);
  connection.send(headers(2));
  assert.deepEqual(await connection.lines(), ['GOAWAY 0 1']);
  t.mock.timers.tick(1001);
  assert.ok(connection.destroyed);
});
