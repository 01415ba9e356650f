// runs-on: every-node
import assert from 'node:assert/strict';
import { Duplex, PassThrough, type Readable } from 'node:stream';
import { test } from 'node:test';
import { PacedConnection } from './paced.js';

const BYTES_PER_SECOND = 100_000;
const PIECE = Buffer.alloc(10_000, 'x');

function scene(): { readonly paced: PacedConnection; readonly there: PassThrough; readonly back: PassThrough } {
  const [there, back] = [new PassThrough(), new PassThrough()];
  return {
    paced: new PacedConnection(Duplex.from({ writable: there, readable: back }), BYTES_PER_SECOND),
    there,
    back,
  };
}

/** Unlike a loop over it, this leaves the other way of the stream alone. */
function bytesOf(stream: Readable): Promise<Buffer> {
  const pieces: Buffer[] = [];
  stream.on('data', (piece: Buffer) => pieces.push(piece));
  return new Promise((resolve) => stream.once('end', () => resolve(Buffer.concat(pieces))));
}

test('each way flows no faster than the rate, whole and in order', async () => {
  const { paced, there, back } = scene();
  const startedMs = performance.now();
  const spentMs = (): number => performance.now() - startedMs;
  for (let i = 0; i < 4; i++) {
    back.write(PIECE);
    paced.write(PIECE);
  }
  back.end('end');
  paced.end('end');
  const [read, written] = await Promise.all([
    bytesOf(paced).then((bytes) => ({ bytes, spentMs: spentMs() })),
    bytesOf(there).then((bytes) => ({ bytes, spentMs: spentMs() })),
  ]);
  for (const { bytes, spentMs: tookMs } of [read, written]) {
    assert.equal(bytes.toString(), `${'x'.repeat(40_000)}end`);
    assert.ok(tookMs >= 390, `40 kB took ${tookMs} ms`);
  }
});

test('destroying it destroys the inner connection, and the other way round', async () => {
  const one = scene();
  one.paced.write(PIECE);
  one.paced.write(PIECE);
  one.paced.destroy();
  await new Promise((resolve) => one.there.once('close', resolve));
  const other = scene();
  const failed = new Promise<Error>((resolve) => other.paced.once('error', resolve));
  other.back.destroy(new Error('gone'));
  assert.match((await failed).message, /gone/);
});
