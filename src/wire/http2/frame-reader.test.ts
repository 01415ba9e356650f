// runs-on: every-node
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ConnectionError } from './error-code.js';
import { FrameReader, type FrameReceiver, PREFACE } from './frame-reader.js';
import { Flag, FrameType } from './frames.js';
import { frame } from './testing.js';

const MAX_BYTES = 1000;

/** What was received, as lines; a body's pieces joined. */
function receiver(): FrameReceiver & { readonly seen: string[] } {
  const seen: string[] = [];
  let body = '';
  return {
    seen,
    closed: false,
    paused: false,
    frame: ({ type, flags, stream }, bytes, start, end) =>
      void seen.push(`${type} ${flags} ${stream} ${bytes.toString('hex', start, end)}`),
    dataBegins: (flags, stream, length, padding) => {
      body = `0 ${flags} ${stream} ${length} ${padding} `;
    },
    dataPiece: (piece) => {
      assert.ok(piece.length > 0);
      body += piece.toString('hex');
    },
    dataEnds: () => void seen.push(body),
  };
}

function read(pieces: readonly Buffer[]): { seen: string[]; error: string } {
  const to = receiver();
  const reader = new FrameReader(to, MAX_BYTES);
  try {
    for (const piece of pieces) reader.feed(piece);
  } catch (error) {
    assert.ok(error instanceof ConnectionError, String(error));
    return { seen: to.seen, error: error.message };
  }
  return { seen: to.seen, error: '' };
}

const anyFrame = fc
  .record({
    type: fc.nat(12),
    flags: fc.constantFrom(0, 1, 4, 5, 8, 9, 0x20, 0x2d, 0xff),
    stream: fc.nat(20),
    payload: fc.uint8Array({ maxLength: 60 }),
  })
  .map(({ type, flags, stream, payload }) => frame(type, flags, stream, Buffer.from(payload)));

test('frames are the same in whatever pieces they come', () => {
  fc.assert(
    fc.property(fc.array(anyFrame, { maxLength: 10 }), fc.array(fc.nat(200), { maxLength: 20 }), (frames, cuts) => {
      const all = Buffer.concat([PREFACE, ...frames]);
      const at = [...new Set(cuts.map((cut) => cut % all.length))].toSorted((a, b) => a - b);
      const pieces = [0, ...at]
        .map((start, i) => all.subarray(start, at[i] ?? all.length))
        .filter((one) => one.length > 0);
      const whole = read([all]);
      assert.deepEqual(read(pieces), whole);
      assert.deepEqual(read(Array.from(all, (byte) => Buffer.of(byte))), whole);
    }),
  );
});

test('a frame that is too large is refused by its head, before the rest has come', () => {
  const large = frame(FrameType.ping, 0, 0, Buffer.alloc(MAX_BYTES + 1)).subarray(0, 9);
  assert.equal(read([PREFACE, large]).error, 'frame exceeds SETTINGS_MAX_FRAME_SIZE');
  assert.equal(read([PREFACE, frame(FrameType.ping, 0, 0, Buffer.alloc(MAX_BYTES))]).seen.length, 1);
});

test('a body is handed on before it is whole', () => {
  const to = receiver();
  const pieces: number[] = [];
  const reader = new FrameReader({ ...to, dataPiece: (piece) => void pieces.push(piece.length) }, MAX_BYTES);
  const body = frame(FrameType.data, Flag.padded, 1, Buffer.concat([Buffer.of(2), Buffer.alloc(50), Buffer.alloc(2)]));
  reader.feed(PREFACE);
  reader.feed(body.subarray(0, 20));
  assert.deepEqual(pieces, [10]);
  reader.feed(body.subarray(20));
  assert.deepEqual(pieces, [10, 40]);
  assert.equal(to.seen.length, 1);
});

test('the reserved bit before the id of a stream says nothing', () => {
  const bytes = frame(FrameType.ping, 0, 0x7fffffff, '12345678');
  bytes[5] = 0xff;
  assert.match(read([PREFACE, bytes]).seen[0] ?? '', /^6 0 2147483647 /);
});
