// runs-on: every-node
// gRPC against servers that do not hold to it: what cannot be read ends the call, and nothing else.
import assert from 'node:assert/strict';
import http2 from 'node:http2';
import net, { type AddressInfo } from 'node:net';
import { afterEach, describe, it } from 'node:test';
import { directDialer } from '../src/outbound/dialer.js';
import { GrpcConnection } from '../src/outbound/grpc.js';
import { type GrpcError, INTERNAL } from '../src/outbound/grpc-error.js';
import { pollUntil } from '../src/lib/testing/poll-until.js';

const COMPRESSED = Buffer.from([1, 0, 0, 0, 1, 0xff]);
const PLAIN = Buffer.from([0, 0, 0, 0, 1, 0xff]);
const LARGE = Buffer.alloc(3 * 1024 * 1024, 'large');
const framedOf = (message: Buffer): Buffer => {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
};

describe('gRPC', () => {
  const closers: (() => void)[] = [];
  afterEach(() => {
    for (const close of closers.splice(0)) close();
  });

  const connect = (sends: Buffer): Promise<GrpcConnection> =>
    connectTo((stream) => {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' });
      stream.write(sends);
    });

  const connectTo = async (answer: (stream: http2.ServerHttp2Stream) => void): Promise<GrpcConnection> => {
    const server = http2.createServer();
    server.on('stream', (stream) => {
      stream.on('error', () => undefined);
      answer(stream);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const connection = await GrpcConnection.open({
      url: `http://127.0.0.1:${port}`,
      tls: {},
      dialer: directDialer,
    });
    closers.push(
      () => connection.close(),
      () => server.close(),
    );
    return connection;
  };

  const ending = (connection: GrpcConnection, receive: (message: Buffer) => void | Promise<void>): Promise<GrpcError> =>
    new Promise((resolve) => connection.stream('/test.Test/Watch', receive, resolve));

  it('ends a stream with what was wrong when a frame is in a form that is not read', async () => {
    const connection = await connect(COMPRESSED);
    const error = await ending(connection, () => assert.fail('there is no message'));
    assert.equal(error.status, INTERNAL);
    assert.match(error.message, /compressed flag set/);
    assert.ok(connection.usable, 'other calls on the connection go on');
  });

  it('ends a stream whose messages their receiver cannot read', async () => {
    const connection = await connect(PLAIN);
    const error = await ending(connection, () => {
      throw new Error('protobuf: the message ends inside a number');
    });
    assert.match(error.message, /ends inside a number/);
  });

  it('ends a stream whose receiver fails later', async () => {
    const connection = await connect(PLAIN);
    const error = await ending(connection, async () => {
      await Promise.resolve();
      throw new Error('the cache is gone');
    });
    assert.match(error.message, /the cache is gone/);
  });

  it('fails a call whose answer is in a form that is not read', async () => {
    const connection = await connect(COMPRESSED);
    await assert.rejects(connection.call('/test.Test/Ask', Buffer.alloc(0), 5_000), /compressed flag set/);
  });

  const HEAD = { ':status': 200, 'content-type': 'application/grpc' };
  /** An answer as it should be, but for what is said at its end. */
  const saying = (sends: Buffer, trailers: http2.OutgoingHttpHeaders) => (stream: http2.ServerHttp2Stream) => {
    stream.respond(HEAD, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers(trailers));
    stream.end(sends);
  };
  const OK = { 'grpc-status': '0' };
  const outcomes: readonly [string, (stream: http2.ServerHttp2Stream) => void, number, string][] = [
    [
      'is a page',
      (stream) => stream.respond({ ':status': 404 }),
      12,
      'unexpected HTTP status code received from server: 404 (Not Found); malformed header: missing HTTP content-type',
    ],
    [
      'ends without trailers',
      (stream) => {
        stream.respond(HEAD);
        stream.end(PLAIN);
      },
      13,
      'server closed the stream without sending trailers',
    ],
    ['does not say how it went', saying(PLAIN, { 'x-y': 'z' }), 2, ''],
    ['has a head alone, which says nothing', (stream) => stream.respond(HEAD, { endStream: true }), 2, ''],
    ['is refused after its message', saying(PLAIN, { 'grpc-status': '9', 'grpc-message': 'no' }), 9, 'no'],
    [
      'is two answers',
      saying(Buffer.concat([PLAIN, PLAIN]), OK),
      2,
      'grpc: client streaming protocol violation: get <nil>, want <EOF>',
    ],
    ['ends inside a message', saying(PLAIN.subarray(0, 5), OK), 13, 'unexpected EOF'],
    ['is none', saying(Buffer.alloc(0), OK), 2, 'EOF'],
    [
      'is reset',
      (stream) => stream.close(http2.constants.NGHTTP2_ENHANCE_YOUR_CALM),
      8,
      'stream terminated by RST_STREAM with error code: ENHANCE_YOUR_CALM',
    ],
    [
      'does not come before the connection ends',
      (stream) => stream.session?.destroy(),
      14,
      'closing transport due to: connection error: desc = "error reading from server: EOF", received prior goaway: code: NO_ERROR',
    ],
  ];
  for (const [what, answer, status, message] of outcomes) {
    it(`reports a call whose answer ${what}`, async () => {
      const connection = await connectTo(answer);
      await assert.rejects(connection.call('/test.Test/Ask', Buffer.alloc(0), 5_000), { status, message });
    });
  }

  it('carries large messages both ways through small windows', async () => {
    const sent: Buffer[] = [];
    const connection = await connectTo((stream) => {
      stream.on('data', (chunk: Buffer) => sent.push(chunk));
      stream.on('end', () => saying(framedOf(LARGE), OK)(stream));
    });
    const answer = await connection.call('/test.Test/Ask', LARGE, 60_000);
    assert.ok(answer.equals(LARGE));
    assert.ok(Buffer.concat(sent).subarray(5).equals(LARGE));
  });

  it('reads no more of a stream than its receiver accepts, and goes on with other calls', async () => {
    let sent = 0;
    const connection = await connectTo((stream) => {
      if (stream.session?.listenerCount('half') === 1) return saying(PLAIN, OK)(stream);
      stream.session?.on('half', () => undefined);
      stream.respond(HEAD);
      const send = (): void => {
        while (sent < 30 && stream.write(framedOf(LARGE))) sent++;
        if (sent < 30) stream.once('drain', send);
      };
      send();
    });
    let received = 0;
    let goOn: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (goOn = resolve));
    const all = new Promise<void>((resolve) => {
      connection.stream(
        '/test.Test/Watch',
        () => (++received === 30 ? resolve() : held),
        () => undefined,
      );
    });
    await pollUntil(() => received === 1);
    assert.deepEqual(await connection.call('/test.Test/Ask', Buffer.alloc(0), 60_000), PLAIN.subarray(5));
    assert.equal(received, 1);
    assert.ok(sent < 30, 'the window is what may wait');
    goOn();
    await all;
  });

  /** A server that says what it is, and then the given bytes, whatever the request. */
  const connectRaw = async (answer: (socket: net.Socket) => void): Promise<GrpcConnection> => {
    const sockets: net.Socket[] = [];
    const server = net.createServer((socket) => {
      sockets.push(socket);
      socket.on('error', () => undefined);
      socket.write(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]));
      // The preface and our settings come in the first piece, a call in a later one.
      socket.once('data', () => socket.on('data', () => answer(socket)));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const connection = await GrpcConnection.open({ url: `http://127.0.0.1:${port}`, tls: {}, dialer: directDialer });
    closers.push(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    return connection;
  };

  it('fails a call in its time when the server hangs', async () => {
    const connection = await connectRaw(() => undefined);
    await assert.rejects(connection.call('/test.Test/Ask', Buffer.alloc(0), 50), {
      status: 4,
      message: 'context deadline exceeded',
    });
    assert.ok(connection.usable);
    connection.close();
  });

  const ends: readonly [string, (socket: net.Socket) => void, RegExp][] = [
    [
      'answers garbage',
      (socket) => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'),
      /frame exceeds SETTINGS_MAX_FRAME_SIZE/,
    ],
    ['closes the connection', (socket) => socket.end(), /error reading from server: EOF/],
    ['resets the connection', (socket) => socket.resetAndDestroy(), /error reading from server: /],
  ];
  for (const [what, end, message] of ends) {
    it(`fails the calls under way when the server ${what}`, async () => {
      const connection = await connectRaw(end);
      const closed = new Promise<void>((resolve) => connection.onClose(resolve));
      const call = connection.call('/test.Test/Ask', Buffer.alloc(0), 60_000);
      await assert.rejects(
        call,
        (error: GrpcError) => error.status === 14 && error.sent && message.test(error.message),
      );
      await closed;
      await assert.rejects(connection.call('/test.Test/Ask', Buffer.alloc(0), 60_000), { status: 14, sent: false });
    });
  }

  it('does not count a server as connected that says nothing', async () => {
    const server = net.createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const target = { url: `http://127.0.0.1:${port}`, tls: {}, dialer: directDialer };
    const opening = GrpcConnection.open(target, { connectTimeoutMs: 50 });
    await assert.rejects(opening, /no SETTINGS frame came in time/);
    server.close();
  });

  it('retries once where the server refused the stream unprocessed', async () => {
    let attempts = 0;
    const connection = await connectTo((stream) => {
      if (++attempts === 1) stream.close(http2.constants.NGHTTP2_REFUSED_STREAM);
      else saying(PLAIN, OK)(stream);
    });
    assert.deepEqual(await connection.call('/test.Test/Ask', Buffer.alloc(0), 5_000), PLAIN.subarray(5));
  });
});
