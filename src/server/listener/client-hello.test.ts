// runs-on: every-node
import assert from 'node:assert/strict';
import { Duplex } from 'node:stream';
import { test } from 'node:test';
import tls, { type ConnectionOptions } from 'node:tls';
import { type ClientHello, ClientHelloReader } from './client-hello.js';

/** The first bytes of a client of Node.js. */
function helloOf(options: ConnectionOptions): Promise<Buffer> {
  return new Promise((resolve) => {
    const socket = new Duplex({
      read: () => undefined,
      write(bytes: Buffer, _encoding, done) {
        resolve(bytes);
        done();
      },
    });
    tls.connect({ socket, ...options }).on('error', () => undefined);
  });
}

const readWhole = (bytes: Buffer): { readonly isDone: boolean; readonly hello: ClientHello | undefined } => {
  const reader = new ClientHelloReader();
  return { isDone: reader.push(bytes), hello: reader.hello };
};

const OPTIONS = { servername: 'Some.Name.test', minVersion: 'TLSv1.2', ecdhCurve: 'P-256:P-384' } as const;

test('what a client offers is read from its first message', async () => {
  const { isDone, hello } = readWhole(
    await helloOf({ ...OPTIONS, sigalgs: 'ecdsa_secp256r1_sha256:rsa_pss_rsae_sha256' }),
  );
  assert.ok(isDone);
  assert.equal(hello?.serverName, 'some.name.test');
  assert.deepEqual(hello.versions, [0x0304, 0x0303]);
  assert.deepEqual(hello.groups, [0x17, 0x18]);
  assert.deepEqual(hello.signatureSchemes, [0x0403, 0x0804]);
  assert.ok(hello.suites.includes(0x1301) && hello.suites.includes(0xc02b));
});

test('without extensions the version is that of the message, and no name is given', async () => {
  const older = readWhole(await helloOf({ maxVersion: 'TLSv1.2' })).hello;
  assert.deepEqual([older?.versions, older?.serverName], [[0x0303], '']);
  const bare = Buffer.concat([Buffer.from([3, 3]), Buffer.alloc(32), Buffer.from([0, 0, 2, 0xc0, 0x2b, 1, 0])]);
  const { hello } = readWhole(inRecords(withHeader(bare), bare.length + 4));
  assert.deepEqual(hello, { serverName: '', versions: [0x0303], suites: [0xc02b], groups: [], signatureSchemes: [] });
});

const withHeader = (body: Buffer): Buffer =>
  Buffer.concat([Buffer.from([1, 0, body.length >> 8, body.length & 255]), body]);

function inRecords(message: Buffer, fragmentBytes: number): Buffer {
  const records: Buffer[] = [];
  for (let at = 0; at < message.length; at += fragmentBytes) {
    const fragment = message.subarray(at, at + fragmentBytes);
    records.push(Buffer.from([22, 3, 1, fragment.length >> 8, fragment.length & 255]), fragment);
  }
  return Buffer.concat(records);
}

test('a message in pieces and in several records is the same, and is done with its last byte', async () => {
  const whole = await helloOf(OPTIONS);
  const { hello } = readWhole(whole);
  for (const bytes of [whole, inRecords(whole.subarray(5), 50), inRecords(whole.subarray(5), 7)]) {
    const reader = new ClientHelloReader();
    const done = Array.from(bytes, (_, i) => reader.push(bytes.subarray(i, i + 1)));
    assert.equal(done.indexOf(true), bytes.length - 1);
    assert.deepEqual(reader.hello, hello);
    assert.deepEqual(reader.bytes, bytes);
  }
});

test('what is no such message is not waited for', () => {
  const record = (...bytes: number[]): Buffer => Buffer.from([22, 3, 1, ...bytes]);
  const others = {
    'plain HTTP': Buffer.from('G'),
    'another message': record(0, 5, 2, 0, 0, 1, 0),
    'a message that is too large': record(0, 4, 1, 2, 0, 0),
    'a record that is too large': record(255, 255),
    'an empty record': record(0, 0),
    'one byte in each record': inRecords(Buffer.concat([Buffer.from([1, 0, 200, 0]), Buffer.alloc(200)]), 1),
  };
  for (const [name, bytes] of Object.entries(others)) {
    assert.deepEqual(readWhole(bytes), { isDone: true, hello: undefined }, name);
  }
});

test('a message whose lengths lie is none, whichever it is', async () => {
  const message = (await helloOf(OPTIONS)).subarray(9);
  for (let length = 0; length < message.length; length++) {
    const cut = withHeader(message.subarray(0, length));
    const { isDone, hello } = readWhole(inRecords(cut, cut.length));
    assert.ok(isDone);
    // A message may end where its extensions would begin.
    if (hello !== undefined) assert.deepEqual([hello.serverName, hello.groups], ['', []], `${length}`);
  }
});
