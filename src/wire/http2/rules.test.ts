// runs-on: every-node
// Rules of RFC 9113 that look at a connection over several frames, beside those of `connection.test.ts`. The codes after
// RESET and GOAWAY are those of section 7.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HttpHandler, HttpResponse } from '../../lib/http/http.js';
import { Flag, FrameType } from './frames.js';
import { block, type Fields, frame, GET, headers, POST, settings, TestConnection, uint32 } from './testing.js';

const ok = (body: HttpResponse['body'] = 'ok'): HttpResponse => ({ status: 200, headers: {}, body });
const waits: HttpHandler = () => new Promise(() => undefined);
const reads: HttpHandler = async (request) => ok(await request.body(1 << 20));
const data = (stream: number, text: string | Buffer, flags = 0): Buffer => frame(FrameType.data, flags, stream, text);
const reset = (stream: number, code = 8): Buffer => frame(FrameType.resetStream, 0, stream, uint32(code));
const window = (stream: number, by: number): Buffer => frame(FrameType.windowUpdate, 0, stream, uint32(by));
const priority = (stream: number, onStream: number): Buffer =>
  frame(FrameType.priority, 0, stream, Buffer.concat([uint32(onStream), Buffer.of(255)]));
const OK_1 = ['HEADERS 1 200', 'DATA 1 ok END'];

async function says(handler: HttpHandler, ...bytes: Buffer[]): Promise<string[]> {
  const connection = new TestConnection(handler);
  connection.send(...bytes);
  return connection.lines();
}

test('3.4: the first frame of the server is SETTINGS, and it does not wait for the client', async () => {
  const connection = new TestConnection(waits, { greeted: false });
  await connection.frames();
  const first = connection.written[0] ?? Buffer.alloc(0);
  assert.deepEqual([first[3], first[4], first.readUInt32BE(5)], [FrameType.settings, 0, 0]);
});

test('4.1: the reserved bits before ids and windows say nothing', async () => {
  const connection = new TestConnection(() => ok(Buffer.alloc(100)));
  connection.send(settings({ 4: 0 }), headers(1), window(0x80000001, 0x80000000 + 60));
  assert.deepEqual(await connection.lines(), ['HEADERS 1 200', 'DATA 1 60']);
});

test("4.3: the encoder obeys the client's SETTINGS_HEADER_TABLE_SIZE", async () => {
  const connection = new TestConnection(() => ok(''));
  connection.send(settings({ 1: 0 }), headers(1), headers(3));
  const heads = (await connection.frames()).filter(({ type }) => type === FrameType.headers);
  // The first block says that the table is empty now; without one, both are written out.
  assert.equal(heads[0]?.payload[0], 0x20);
  assert.equal(heads[0].payload.length, (heads[1]?.payload.length ?? 0) + 1);
});

test('5.1: half closed, a stream may still be widened, rated and reset', async () => {
  let isGone = false;
  const connection = new TestConnection(({ signal }) => {
    signal.addEventListener('abort', () => (isGone = true));
    return new Promise(() => undefined);
  });
  connection.send(headers(1), window(1, 5), priority(1, 0));
  assert.deepEqual(await connection.lines(), []);
  assert.ok(!isGone);
  connection.send(reset(1));
  assert.deepEqual(await connection.lines(), []);
  assert.ok(isGone);
});

test('5.1: after a reset a body is refused, headers end the connection, a priority is nothing', async () => {
  const gone = [headers(1, POST, 0), reset(1)];
  assert.deepEqual(await says(waits, ...gone, data(1, 'x')), ['RESET 1 5']);
  assert.deepEqual(await says(waits, ...gone, headers(1)), ['GOAWAY 1 5']);
  assert.deepEqual(await says(waits, ...gone, priority(1, 0), reset(1), window(1, 1)), []);
});

test('5.1: a continuation follows headers and nothing else', async () => {
  const rest = frame(FrameType.continuation, Flag.endHeaders, 1, '');
  const begun = frame(FrameType.headers, 0, 1, block(POST));
  assert.deepEqual(await says(waits, headers(1), rest), ['GOAWAY 1 1']);
  assert.deepEqual(await says(waits, begun, rest, rest), ['GOAWAY 1 1']);
  assert.deepEqual(await says(waits, headers(1, POST, 0), data(1, 'x'), rest), ['GOAWAY 1 1']);
  assert.deepEqual(await says(waits, frame(FrameType.continuation, Flag.endHeaders, 0, '')), ['GOAWAY 0 1']);
});

test('5.1.1: an id that was left out cannot be used any more', async () => {
  assert.deepEqual(await says(waits, headers(5), headers(3)), ['GOAWAY 5 1']);
  assert.deepEqual(await says(waits, headers(3), headers(1)), ['GOAWAY 3 1']);
  assert.deepEqual(await says(waits, headers(5), data(3, 'x')), ['RESET 3 5']);
  assert.deepEqual(await says(() => ok(), headers(1), headers(1)), [...OK_1, 'GOAWAY 1 5']);
});

test('5.3: PRIORITY on an idle stream does not open it, and a stream that depends on itself is no error', async () => {
  assert.deepEqual(await says(() => ok(), priority(7, 0), priority(1, 1), headers(1)), OK_1);
});

test('5.4.1: nothing is read after a mistake', async () => {
  let calls = 0;
  const lines = await says(() => (calls++, ok()), frame(FrameType.ping, 0, 0, 'short'), headers(1), headers(3));
  assert.deepEqual(lines, ['GOAWAY 0 6']);
  assert.equal(calls, 0);
});

test('5.4.2: a reset is not answered by one', async () => {
  assert.deepEqual(await says(waits, headers(1, POST, 0), reset(1), reset(1)), []);
});

test('6.1: a body in many frames, of which the last may be empty', async () => {
  const pieces = ['b', '', 'ody'].map((text) => data(1, text));
  assert.deepEqual(await says(reads, headers(1, POST, 0), ...pieces, data(1, '', Flag.endStream)), [
    'HEADERS 1 200',
    'DATA 1 body END',
  ]);
});

test('6.5.3: settings count in the order they come in, and before what follows them', async () => {
  const twice = Buffer.concat([uint32(0x00040000, 0x00500004), uint32(0x00000007)]);
  const connection = new TestConnection(() => ok(Buffer.alloc(100)));
  // The window of a stream: 0x50 first, then 7.
  connection.send(frame(FrameType.settings, 0, 0, twice), headers(1));
  assert.deepEqual(await connection.lines(), ['HEADERS 1 200', 'DATA 1 \0\0\0\0\0\0\0']);
});

test('6.8, 7: unknown error codes are accepted', async () => {
  assert.deepEqual(await says(waits, headers(1), reset(1, 0xffff)), []);
  assert.deepEqual(await says(waits, headers(1), frame(FrameType.goaway, 0, 0, uint32(0, 0xffff))), ['GOAWAY 1 0']);
});

test('6.8: words after the end of a connection are read over', async () => {
  const words = Buffer.concat([uint32(0, 0), Buffer.from('bye')]);
  const lines = await says(
    waits,
    headers(1),
    frame(FrameType.goaway, 0, 0, words),
    frame(FrameType.ping, 0, 0, '12345678'),
  );
  assert.deepEqual(lines, ['GOAWAY 1 0', 'PING 1 12345678']);
});

test('6.9.1: what is sent for a stream that is over counts in the window of all', async () => {
  const connection = new TestConnection(() => ok(''), { maxStreams: 1 });
  connection.send(headers(1));
  // The window of a stream, and of a connection of one stream, is 256 KiB. After half of it a WINDOW_UPDATE is sent.
  const piece = data(1, Buffer.alloc(65_536));
  connection.send(piece, piece);
  await connection.frames();
  const reported = Buffer.concat(connection.written).includes(frame(FrameType.windowUpdate, 0, 0, uint32(131_072)));
  assert.ok(reported, 'a body that nobody wants must not use up the window');
});

test('6.9.2: the first window of streams is not that of all', async () => {
  const connection = new TestConnection(() => ok(Buffer.alloc(70_000)));
  connection.send(settings({ 4: 1_000_000 }), headers(1));
  const frames = await connection.frames();
  assert.equal(
    frames.reduce((sum, { type, payload }) => sum + (type === FrameType.data ? payload.length : 0), 0),
    65_535,
  );
});

test('8.3.1: an OPTIONS request for the whole server has the path *', async () => {
  const star: Fields = [[':method', 'OPTIONS'], [':scheme', 'https'], [':path', '*'], ...GET.slice(3)];
  assert.deepEqual(await says(({ path }) => ok(path), headers(1, star)), ['HEADERS 1 200', 'DATA 1 * END']);
});
