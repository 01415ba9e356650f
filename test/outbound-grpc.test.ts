// gRPC against servers that do not hold to it: what cannot be read ends the call, and nothing else.
import assert from 'node:assert/strict';
import http2 from 'node:http2';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, it } from 'node:test';
import { directDialer } from '../src/outbound/dialer.js';
import { GrpcConnection, type GrpcError, UNAVAILABLE } from '../src/outbound/grpc.js';

const COMPRESSED = Buffer.from([1, 0, 0, 0, 1, 0xff]);
const PLAIN = Buffer.from([0, 0, 0, 0, 1, 0xff]);

describe('gRPC', () => {
  const closers: (() => void)[] = [];
  afterEach(() => {
    for (const close of closers.splice(0)) close();
  });

  const connect = async (sends: Buffer): Promise<GrpcConnection> => {
    const server = http2.createServer();
    server.on('stream', (stream) => {
      stream.on('error', () => undefined);
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' });
      stream.write(sends);
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

  const ending = (connection: GrpcConnection, take: (message: Buffer) => void | Promise<void>): Promise<GrpcError> =>
    new Promise((resolve) => connection.stream('/test.Test/Watch', take, resolve));

  it('ends a stream with what was wrong when a frame is in a form that is not read', async () => {
    const connection = await connect(COMPRESSED);
    const error = await ending(connection, () => assert.fail('there is no message'));
    assert.equal(error.status, UNAVAILABLE);
    assert.match(error.message, /a message in a form we do not read/);
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
    await assert.rejects(connection.call('/test.Test/Ask', Buffer.alloc(0), 5_000), /a form we do not read/);
  });
});
