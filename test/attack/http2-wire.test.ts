// runs-on: every-node
// HTTP/2 as those send it who mean no good: floods, bombs, drips and clients that do not read. The server stays with
// its bounds, and others are served meanwhile.
import { silentLog } from '../../src/lib/testing/test-log.js';
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import type { HttpRequest, HttpResponse } from '../../src/lib/http/http.js';
import { ensureAuthority, ensureServingCertificate } from '../../src/server/listener/certificates.js';
import { listen, type Listener } from '../../src/server/listener/listener.js';
import { loadServingCertificates } from '../../src/server/listener/serving-certificates.js';
import { HpackDecoder } from '../../src/wire/hpack/decoder.js';
import { Flag, FrameType } from '../../src/wire/http2/frames.js';
import { block, type Fields, frame, GET, headers, POST, settings, uint32 } from '../../src/wire/http2/testing.js';
import { speakHttp2, type Wire } from '../support/http2-wire.js';

const CALM = 11;
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-http2-'));
const authority = ensureAuthority(folder, Date.now());
const names = { dnsNames: ['localhost'], ipAddresses: ['127.0.0.1'] };
const serving = ensureServingCertificate(folder, authority, names, Date.now());
const log = silentLog;
let listener: Listener;
let handler: (request: HttpRequest) => Promise<HttpResponse> | HttpResponse;
const ok = (body: HttpResponse['body']): HttpResponse => ({ status: 200, headers: {}, body });

before(async () => {
  const certificates = loadServingCertificates({ serving, log });
  listener = await listen({ address: '127.0.0.1', port: 0, certificates, handler: (r) => handler(r), log });
});
after(async () => {
  await listener.close(100);
  fs.rmSync(folder, { recursive: true });
});

const speak = (): Promise<Wire> =>
  speakHttp2({ host: '127.0.0.1', port: listener.port, ca: authority.certPem, servername: 'localhost' });
const answers = (wire: Wire, stream: number): Promise<unknown> =>
  wire.until((type, id, _, flags) => id === stream && type === FrameType.data && (flags & Flag.endStream) !== 0);
const repeated = (bytes: Buffer, times: number): Buffer => Buffer.concat(Array<Buffer>(times).fill(bytes));

test('1,300 watches opened and reset are served, and the connection goes on', async () => {
  let open = 0;
  let most = 0;
  let ended = 0;
  handler = ({ signal, path: requested }) => {
    if (requested === '/last') return ok('fine');
    most = Math.max(most, ++open);
    return ok({
      stream: () =>
        new Promise((resolve) =>
          signal.addEventListener('abort', () => {
            open--;
            ended++;
            resolve();
          }),
        ),
    });
  };
  const wire = await speak();
  for (let id = 1; id < 2 * 1300; id += 2) wire.send(headers(id), frame(FrameType.resetStream, 0, id, uint32(8)));
  const last = answers(wire, 9001);
  wire.send(headers(9001, [...GET.slice(0, 2), [':path', '/last']]));
  assert.ok(await last);
  assert.equal(open, 0);
  assert.ok(ended > 0 && most <= 100, `${ended} ended, ${most} at once`);
  wire.socket.destroy();
});

test('work that a reset cannot stop is not begun again and again', async () => {
  let running = 0;
  const finish: (() => void)[] = [];
  handler = () => {
    running++;
    return new Promise((resolve) => finish.push(() => resolve(ok('x'))));
  };
  const wire = await speak();
  for (let id = 1; id < 2000; id += 2) wire.send(headers(id), frame(FrameType.resetStream, 0, id, uint32(8)));
  const pong = wire.until((type) => type === FrameType.ping);
  wire.send(frame(FrameType.ping, 0, 0, 'abcdefgh'));
  assert.ok(await pong);
  assert.equal(running, 100);
  const last = answers(wire, 3001);
  wire.send(headers(3001));
  for (const go of finish.splice(0)) go();
  while (finish.length === 0) await new Promise((resolve) => setImmediate(resolve));
  for (const go of finish.splice(0)) go();
  assert.ok(await last);
  assert.equal(running, 101);
  wire.socket.destroy();
});

const FLOODS: Readonly<Record<string, Buffer>> = {
  pings: frame(FrameType.ping, 0, 0, 'abcdefgh'),
  settings: settings({ 4: 70_000 }),
  resets: frame(FrameType.resetStream, 0, 1, uint32(8)),
  'steps of a window': frame(FrameType.windowUpdate, 0, 0, uint32(1)),
  priorities: frame(FrameType.priority, 0, 9, Buffer.alloc(5)),
  'frames that nobody knows': frame(0x99, 0, 0, ''),
  'empty bodies': frame(FrameType.data, 0, 3, ''),
};
for (const [what, one] of Object.entries(FLOODS)) {
  test(`a flood of ${what} ends its connection, and no other`, async () => {
    handler = ({ method }) => (method === 'POST' ? new Promise(() => undefined) : ok('fine'));
    const wire = await speak();
    const first = answers(wire, 1);
    wire.send(headers(1), headers(3, POST, 0));
    assert.ok(await first);
    wire.send(repeated(one, 5000));
    const other = await speak();
    const served = answers(other, 1);
    other.send(headers(1));
    assert.ok(await served);
    for (let i = 0; i < 20 && !wire.socket.destroyed; i++) wire.send(repeated(one, 5000));
    assert.equal(await wire.goaway, CALM);
    const again = answers(other, 3);
    other.send(headers(3));
    assert.ok(await again);
    other.socket.destroy();
    wire.socket.destroy();
  });
}

test('a head just over a mebibyte is answered 431, and the connection goes on', async () => {
  handler = () => ok('fine');
  const wire = await speak();
  const inner = block([...GET, ['x-long', 'x'.repeat((1 << 20) + 1000)]]);
  const frames: Buffer[] = [];
  for (let at = 0; at < inner.length; at += 16_384) {
    const flags = (at === 0 ? Flag.endStream : 0) | (at + 16_384 >= inner.length ? Flag.endHeaders : 0);
    const type = at === 0 ? FrameType.headers : FrameType.continuation;
    frames.push(frame(type, flags, 1, inner.subarray(at, at + 16_384)));
  }
  const head = wire.until((type) => type === FrameType.headers);
  const body = wire.until((type) => type === FrameType.data);
  wire.send(...frames);
  const decoder = new HpackDecoder();
  assert.equal(decoder.decode((await head)!.payload, 10_000).fields[1], '431');
  assert.match((await body)!.payload.toString(), /Request Header Field\(s\) Too Large/);
  const next = answers(wire, 3);
  wire.send(headers(3));
  assert.ok(await next);
  wire.socket.destroy();
});

test('a head just under a mebibyte is a request', async () => {
  let length = 0;
  handler = (request) => {
    length = request.headers['x-long']?.length ?? 0;
    return ok('fine');
  };
  const wire = await speak();
  const inner = block([...GET, ['x-long', 'x'.repeat((1 << 20) - 200)]]);
  const served = answers(wire, 1);
  wire.send(frame(FrameType.headers, Flag.endStream, 1, inner.subarray(0, 200_000)));
  for (let at = 200_000; at < inner.length; at += 200_000) {
    const flags = at + 200_000 >= inner.length ? Flag.endHeaders : 0;
    wire.send(frame(FrameType.continuation, flags, 1, inner.subarray(at, at + 200_000)));
  }
  assert.ok(await served);
  assert.equal(length, (1 << 20) - 200);
  wire.socket.destroy();
});

test('a head without end is not read to its end', async () => {
  handler = () => ok('fine');
  for (const size of [0, 1, 200_000]) {
    const wire = await speak();
    wire.send(frame(FrameType.headers, Flag.endStream, 1, block(GET)));
    const one = frame(FrameType.continuation, 0, 1, Buffer.alloc(size));
    for (let i = 0; i < 300 && !wire.socket.destroyed; i++) wire.send(one);
    assert.equal(await wire.goaway, CALM, `of ${size} bytes each`);
    wire.socket.destroy();
  }
});

test('fields that are small on the wire and large in memory count as what they are', async () => {
  handler = () => ok('fine');
  const wire = await speak();
  // One field of 4,000 bytes, indexed by HPACK, and then named 20,000 times in a byte each.
  const learned = Buffer.concat([Buffer.from('4001787fa11e', 'hex'), Buffer.alloc(4000, 'x')]);
  const bomb = Buffer.concat([block(GET), learned, Buffer.alloc(20_000, 0xbe)]);
  const head = wire.until((type) => type === FrameType.headers);
  wire.send(frame(FrameType.headers, Flag.endStream | Flag.endHeaders, 1, bomb));
  assert.equal(new HpackDecoder().decode((await head)!.payload, 10_000).fields[1], '431');
  wire.socket.destroy();
});

test('a client that requests much and reads nothing is answered no further, and holds little', async () => {
  let requests = 0;
  handler = () => {
    requests++;
    return ok(Buffer.alloc(20_000));
  };
  const wire = await speak();
  wire.send(settings({ 4: 0x7fffffff }), frame(FrameType.windowUpdate, 0, 0, uint32(0x70000000)));
  await wire.until((type) => type === FrameType.settings);
  wire.socket.pause();
  const rssBefore = process.memoryUsage().rss;
  let id = 1;
  for (let i = 0; i < 200; i++) {
    const piece: Buffer[] = [];
    for (let j = 0; j < 200; j++, id += 2) piece.push(headers(id), frame(FrameType.ping, 0, 0, 'abcdefgh'));
    wire.send(...piece);
    await new Promise((resolve) => setImmediate(resolve));
  }
  const other = await speak();
  const served = answers(other, 1);
  other.send(headers(1));
  assert.ok(await served);
  const grownMb = (process.memoryUsage().rss - rssBefore) / 1e6;
  assert.ok(requests < 2000, `${requests} were answered`);
  assert.ok(grownMb < 150, `${grownMb} MB`);
  other.socket.destroy();
  wire.socket.destroy();
});

test('bodies in frames of one byte cost about what they say', async () => {
  let length = -1;
  handler = async (request) => {
    length = (await request.body(1 << 20)).length;
    return ok('read');
  };
  const wire = await speak();
  const served = answers(wire, 1);
  wire.send(headers(1, POST, 0), repeated(frame(FrameType.data, 0, 1, 'x'), 50_000));
  wire.send(frame(FrameType.data, Flag.endStream, 1, ''));
  assert.ok(await served);
  assert.equal(length, 50_000);
  wire.socket.destroy();
});

test('a body that nobody reads stays within its window', async () => {
  handler = () => new Promise(() => undefined);
  const wire = await speak();
  let widened = 0;
  void wire.until((type, stream) => {
    if (type === FrameType.windowUpdate && stream === 1) widened++;
    return false;
  });
  const reset = wire.until((type, stream) => type === FrameType.resetStream && stream === 1);
  const piece = frame(FrameType.data, 0, 1, Buffer.alloc(16_384));
  wire.send(headers(1, POST, 0), repeated(piece, 17));
  assert.equal((await reset)?.payload.readUInt32BE(), 3);
  assert.equal(widened, 0);
  wire.socket.destroy();
});

test('a front proxy that sends the same again is known each time', async () => {
  const users: unknown[] = [];
  handler = (request) => {
    users.push(request.headers['x-remote-user']);
    const { 'x-remote-user': _, ...others } = request.headers;
    request.headers = others;
    return ok('fine');
  };
  const fields: Fields = [...GET, ['x-remote-user', 'jane']];
  const wire = await speak();
  for (const id of [1, 3, 5]) {
    const served = answers(wire, id);
    wire.send(headers(id, fields));
    assert.ok(await served);
  }
  assert.deepEqual(users, ['jane', 'jane', 'jane']);
  wire.socket.destroy();
});
