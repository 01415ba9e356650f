import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { WriteScheduler } from '../../lib/scheduling/write-scheduler.js';
import { Http2Client } from './client.js';
import { ClientStream, type StreamLoss } from './client-stream.js';
import { PREFACE } from './frame-reader.js';
import { Flag, FrameType } from './frames.js';
import { BANDWIDTH_ANSWER_MS, BANDWIDTH_PING } from './bandwidth-ping.js';
import { ManualClock } from '../../lib/testing/manual-clock.js';
import { BufferPool } from '../../lib/values/buffer-pool.js';
import type { HeaderFields } from './response-heads.js';
import { FakeSocket, type Fields, frame, FrameLog, headers, settings, uint32 } from './testing.js';

const HEAD: Fields = [
  [':status', '200'],
  ['content-type', 'application/grpc'],
];
const TRAILERS: Fields = [['grpc-status', '0']];
const data = (stream: number, text: string | Buffer, flags = 0): Buffer => frame(FrameType.data, flags, stream, text);
const answer = (stream: number, text: string): Buffer =>
  Buffer.concat([headers(stream, HEAD, 0), data(stream, text), headers(stream, TRAILERS)]);
const goaway = (last: number, code = 0, words = ''): Buffer =>
  frame(FrameType.goaway, 0, 0, Buffer.concat([uint32(last, code), Buffer.from(words)]));
const widen = (stream: number, by: number): Buffer => frame(FrameType.windowUpdate, 0, stream, uint32(by));

describe('a client of HTTP/2', () => {
  it("is not ready before the server's SETTINGS", async () => {
    const client = new TestClient({ greeted: false });
    assert.equal(client.isReady, false);
    client.receive(settings());
    assert.equal(client.isReady, true);
    assert.deepEqual(await client.lines(), []);
  });

  it('sends requests of one event-loop turn in one write, and hands over the answers', async () => {
    const client = new TestClient();
    await client.lines();
    const writes = client.writes;
    const calls = [client.ask('a'), client.ask('b'), client.ask('c')];
    assert.deepEqual(await client.lines(), [
      'HEADERS 1 POST',
      'DATA 1 a END',
      'HEADERS 3 POST',
      'DATA 3 b END',
      'HEADERS 5 POST',
      'DATA 5 c END',
    ]);
    assert.equal(client.writes, writes + 1);
    client.receive(answer(3, 'B'), answer(1, 'A'), answer(5, 'C'));
    assert.deepEqual(
      calls.map(({ log }) => log),
      [
        ['200', 'A', 'trailers 0'],
        ['200', 'B', 'trailers 0'],
        ['200', 'C', 'trailers 0'],
      ],
    );
  });

  it('says the head of a call in few bytes when it was said before', async () => {
    const client = new TestClient();
    const sizes: number[] = [];
    for (let i = 0; i < 4; i++) {
      client.ask('x');
      const [head] = await client.frames();
      sizes.push(head?.payload.length ?? 0);
    }
    assert.ok((sizes[0] ?? 0) > 40 && sizes[3] === 6, sizes.join(' '));
  });

  it('begins no more streams than the server allows, and the others when those end', async () => {
    const client = new TestClient({ settings: { 3: 2 } });
    const calls = ['a', 'b', 'c', 'd'].map((text) => client.ask(text));
    assert.equal((await client.lines()).length, 4);
    calls[3]?.cancel();
    client.receive(answer(1, 'A'));
    assert.deepEqual(await client.lines(), ['HEADERS 5 POST', 'DATA 5 c END']);
    client.receive(answer(3, 'B'), answer(5, 'C'));
    assert.deepEqual(calls[2]?.log, ['200', 'C', 'trailers 0']);
    assert.deepEqual(calls[3]?.log, []);
  });

  it('begins waiting streams when the server allows more', async () => {
    const client = new TestClient({ settings: { 3: 0 } });
    const call = client.ask('a');
    assert.deepEqual(await client.lines(), []);
    client.receive(settings({ 3: 1 }));
    assert.deepEqual(await client.lines(), ['HEADERS 1 POST', 'DATA 1 a END']);
    client.receive(answer(1, 'A'));
    assert.deepEqual(call.log, ['200', 'A', 'trailers 0']);
  });

  it('sends no more than the windows allow, and the rest when they widen', async () => {
    const client = new TestClient({ settings: { 4: 10 } });
    client.ask('0123456789abcdef');
    assert.deepEqual(await client.lines(), ['HEADERS 1 POST', 'DATA 1 0123456789']);
    client.receive(widen(1, 4));
    assert.deepEqual(await client.lines(), ['DATA 1 abcd']);
    // A window may become negative: then nothing goes before it is positive again.
    client.receive(settings({ 4: 6 }), widen(1, 4));
    assert.deepEqual(await client.lines(), []);
    client.receive(widen(1, 1));
    assert.deepEqual(await client.lines(), ['DATA 1 e']);
    client.receive(widen(1, 100));
    assert.deepEqual(await client.lines(), ['DATA 1 f END']);
  });

  it('keeps to the window of the whole connection as well', async () => {
    const client = new TestClient({ settings: { 4: 1 << 20 } });
    client.ask('x'.repeat(65_000));
    client.ask('y'.repeat(1000));
    client.ask('z');
    const sent = (await client.frames()).filter(({ type }) => type === FrameType.data);
    assert.equal(
      sent.reduce((sum, { payload }) => sum + payload.length, 0),
      65_535,
    );
    client.receive(widen(0, 1000));
    const rest = (await client.frames()).filter(({ type }) => type === FrameType.data);
    assert.equal(
      rest.reduce((sum, { payload }) => sum + payload.length, 0),
      466,
    );
  });

  it('ends the connection when the server overflows a window', async () => {
    const client = new TestClient();
    const call = client.ask('a');
    client.receive(widen(0, 0x7fffffff));
    assert.deepEqual(call.log, ['lost connection flow-control window exceeds 2^31-1']);
    assert.equal(client.closedWhy, 'connection flow-control window exceeds 2^31-1');
  });

  it('sends WINDOW_UPDATE only when received bytes are consumed', async () => {
    const client = new TestClient();
    const slow = client.ask('a');
    slow.takesAtOnce = false;
    await client.lines();
    client.receive(headers(1, HEAD, 0));
    const piece = Buffer.alloc(1024 * 1024);
    for (let i = 0; i < 16; i++) client.receive(data(1, piece));
    assert.deepEqual(await client.lines(), [], 'of the stream; the connection goes on for others');
    client.ask('b');
    client.receive(answer(3, 'B'));
    slow.owner?.taken(slow, 8 * 1024 * 1024);
    assert.deepEqual(await client.lines(), ['HEADERS 3 POST', 'DATA 3 b END', 'WINDOW 1 8388608']);
    for (let i = 0; i < 8; i++) client.receive(data(1, piece));
    assert.equal(slow.closed, false);
    client.receive(data(1, 'more than allowed'));
    assert.deepEqual(slow.log.at(-1), 'reset 3');
    assert.deepEqual(await client.lines(), ['RESET 1 3']);
  });

  it('fails those that a server which leaves did not look at, and waits for the others', async () => {
    const client = new TestClient();
    const [first, second, third] = [client.ask('a'), client.ask('b'), client.ask('c')];
    await client.lines();
    client.receive(goaway(0x7fffffff));
    assert.equal(client.client.usable, false);
    client.receive(goaway(3, 0, 'bye'));
    assert.deepEqual(third.log, ['refused']);
    client.receive(answer(1, 'A'));
    assert.deepEqual(first.log, ['200', 'A', 'trailers 0']);
    assert.equal(client.closedWhy, undefined);
    client.receive(answer(3, 'B'));
    assert.deepEqual(second.log, ['200', 'B', 'trailers 0']);
    await client.lines();
    assert.equal(client.closedWhy, 'EOF');
    assert.deepEqual(client.client.goAway, { code: 0, debugData: 'bye' });
  });

  it('resets a cancelled call, and ignores frames that still arrive for it', async () => {
    const client = new TestClient();
    const taken = client.ask('a');
    await client.lines();
    taken.cancel();
    assert.deepEqual(await client.lines(), ['RESET 1 8']);
    client.receive(answer(1, 'A'));
    assert.deepEqual(taken.log, []);
    const next = client.ask('b');
    client.receive(answer(3, 'B'));
    assert.deepEqual(next.log, ['200', 'B', 'trailers 0']);
  });

  it('reports resets, and answers that end without trailers', async () => {
    const client = new TestClient();
    const [reset, short, bare] = [client.ask('a'), client.ask('b'), client.ask('c')];
    client.receive(frame(FrameType.resetStream, 0, 1, uint32(11)));
    client.receive(headers(3, HEAD, 0), data(3, 'B', Flag.endStream));
    client.receive(headers(5, [[':status', '503']]));
    assert.deepEqual(reset.log, ['reset 11']);
    assert.deepEqual(short.log, ['200', 'B', 'end']);
    assert.deepEqual(bare.log, ['503 and no more']);
  });

  it('passes over interim answers', () => {
    const client = new TestClient();
    const call = client.ask('a');
    client.receive(headers(1, [[':status', '103']], 0), answer(1, 'A'));
    assert.deepEqual(call.log, ['200', 'A', 'trailers 0']);
  });

  it('resets a stream that the server answered before the end of the request', async () => {
    const client = new TestClient({ settings: { 4: 4 } });
    client.ask('too long');
    assert.deepEqual(await client.lines(), ['HEADERS 1 POST', 'DATA 1 too ']);
    client.receive(answer(1, 'no'));
    assert.deepEqual(await client.lines(), ['RESET 1 0']);
  });

  it('answers pings and hears answers to its own', async () => {
    const client = new TestClient();
    let answered = 0;
    client.client.ping(() => answered++);
    assert.deepEqual(await client.lines(), [`PING 0 ${'\0'.repeat(8)}`]);
    client.receive(frame(FrameType.ping, Flag.ack, 0, '\0'.repeat(8)), frame(FrameType.ping, 0, 0, 'abcdefgh'));
    assert.equal(answered, 1);
    assert.deepEqual(await client.lines(), ['PING 1 abcdefgh']);
  });

  it('says before each write that calls are about to leave', async () => {
    const client = new TestClient();
    await client.frames();
    const { writes } = client;
    client.writtenBeforeFlush.length = 0;
    client.ask('a');
    client.ask('b');
    assert.deepEqual(client.writtenBeforeFlush, []);
    await client.frames();
    assert.deepEqual(client.writtenBeforeFlush, [writes]);
    assert.equal(client.writes, writes + 1);
  });

  it('answers a ping that measures the bandwidth a little later, as the next one follows the answer', async () => {
    const client = new TestClient();
    const answered = `PING 1 ${BANDWIDTH_PING.toString()}`;
    client.receive(frame(FrameType.ping, 0, 0, BANDWIDTH_PING));
    await client.clock.move(BANDWIDTH_ANSWER_MS - 1);
    assert.deepEqual(await client.lines(), []);
    client.receive(frame(FrameType.ping, 0, 0, 'abcdefgh'));
    assert.deepEqual(await client.lines(), ['PING 1 abcdefgh']);
    await client.clock.move(1);
    assert.deepEqual(await client.lines(), [answered]);
  });

  it('answers each of several such pings', async () => {
    const client = new TestClient();
    const ping = frame(FrameType.ping, 0, 0, BANDWIDTH_PING);
    const answered = `PING 1 ${BANDWIDTH_PING.toString()}`;
    client.receive(ping, ping);
    assert.deepEqual(await client.lines(), [answered]);
    await client.clock.move(BANDWIDTH_ANSWER_MS);
    assert.deepEqual(await client.lines(), [answered]);
    client.receive(ping);
    client.hangUp();
    await client.clock.move(BANDWIDTH_ANSWER_MS);
    assert.deepEqual(await client.lines(), []);
  });

  const faults: readonly [string, Buffer, string][] = [
    [
      'says something else than HTTP/2',
      Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'),
      'frame exceeds SETTINGS_MAX_FRAME_SIZE',
    ],
    [
      'begins with something else than settings',
      frame(FrameType.ping, 0, 0, '12345678'),
      'first frame is not SETTINGS',
    ],
    ['answers what was not asked', Buffer.concat([settings(), headers(7, HEAD)]), 'frame on an idle stream'],
    [
      'promises answers',
      Buffer.concat([settings(), frame(FrameType.pushPromise, 4, 1, uint32(2))]),
      'PUSH_PROMISE frame although push is disabled',
    ],
    [
      'sends a block that cannot be read',
      Buffer.concat([settings(), frame(FrameType.headers, 5, 1, Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff]))]),
      '',
    ],
  ];
  for (const [what, bytes, why] of faults) {
    it(`ends the connection when the server ${what}`, () => {
      const client = new TestClient({ greeted: false });
      const call = client.ask('a');
      client.receive(bytes);
      assert.ok(client.closedWhy?.includes(why), client.closedWhy);
      assert.deepEqual(call.log, [`lost ${client.closedWhy}`]);
    });
  }

  it('ends a stream whose body comes before its head', async () => {
    const client = new TestClient();
    const call = client.ask('a');
    await client.lines();
    client.receive(data(1, 'x'));
    assert.deepEqual(call.log, ['reset 1']);
    assert.deepEqual(await client.lines(), ['RESET 1 1']);
  });

  it('fails all that waits when the connection ends', () => {
    const client = new TestClient({ settings: { 3: 1 } });
    const [begun, waiting] = [client.ask('a'), client.ask('b')];
    client.hangUp();
    assert.deepEqual(begun.log, ['lost EOF']);
    assert.deepEqual(waiting.log, ['refused']);
  });
});

class TestStream extends ClientStream {
  readonly log: string[] = [];
  takesAtOnce = true;

  override onHead(fields: HeaderFields, ends: boolean): void {
    this.log.push(`${fields[':status']}${ends ? ' and no more' : ''}`);
  }

  override onData(piece: Buffer): void {
    this.log.push(piece.length > 20 ? String(piece.length) : piece.toString());
    if (this.takesAtOnce) this.owner?.taken(this, piece.length);
  }

  override onTrailers(fields: HeaderFields): void {
    this.log.push(`trailers ${fields['grpc-status']}`);
  }

  override onEnd(): void {
    this.log.push('end');
  }

  override onLoss(loss: StreamLoss): void {
    this.log.push(loss.kind === 'lost' ? `lost ${loss.why}` : loss.kind === 'reset' ? `reset ${loss.code}` : loss.kind);
  }
}

class TestClient {
  readonly clock = new ManualClock();
  readonly writtenBeforeFlush: number[] = [];
  readonly client: Http2Client;
  isReady = false;
  closedWhy: string | undefined;
  readonly #log = new FrameLog(PREFACE.length);
  readonly #socket: FakeSocket;

  constructor(options: { greeted?: boolean; settings?: Readonly<Record<number, number>> } = {}) {
    this.#socket = new FakeSocket((bytes) => this.#log.add(bytes));
    this.client = new Http2Client(this.#socket, {
      authority: 'etcd.test',
      scheme: 'http',
      scheduler: new WriteScheduler(),
      pool: new BufferPool(),
      clock: this.clock,
      onFlush: () => this.writtenBeforeFlush.push(this.writes),
      onReady: () => (this.isReady = true),
      onClose: (why) => (this.closedWhy = why),
    });
    if (options.greeted !== false) this.receive(settings(options.settings));
  }

  get writes(): number {
    return this.#log.written.length;
  }

  ask(text: string): TestStream {
    const stream = new TestStream('/test.Test/Ask', undefined);
    stream.finished = true;
    this.client.begin(stream, [Buffer.from(text)], text.length);
    return stream;
  }

  receive(...bytes: readonly Buffer[]): void {
    this.#socket.emit('data', Buffer.concat(bytes));
  }

  hangUp(): void {
    this.#socket.emit('end');
  }

  frames(): ReturnType<FrameLog['frames']> {
    return this.#log.frames();
  }

  lines(): Promise<string[]> {
    return this.#log.lines();
  }
}
