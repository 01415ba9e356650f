// runs-on: every-node
// Frames in any order, well formed or not: the connection answers or ends, and nothing else happens. Longer by hand:
//
//   BINNACLE_FUZZ_RUNS=100000 node tools/test.mjs src/wire/http2/fuzz.test.ts
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { HttpHandler, HttpResponse } from '../../lib/http/http.js';
import { Flag, FrameType } from './frames.js';
import { block, type Fields, frame, GET, headers, POST, settings, TestConnection, uint32 } from './testing.js';

const RUNS = Number(process.env['BINNACLE_FUZZ_RUNS'] ?? 400);

const whole = (body: HttpResponse['body']): HttpResponse => ({ status: 200, headers: {}, body });

/** Every kind of answer, by the stream's path. */
const handler: HttpHandler = (request) => {
  switch (request.path) {
    case '/body':
      return request.body(1000).then(whole, () => whole('cut'));
    case '/pieces':
      return whole({
        async stream(sink) {
          for (let i = 0; i < 5; i++) if (!sink.write('x'.repeat(10_000))) await sink.drained();
        },
      });
    case '/large':
      return whole(Buffer.alloc(100_000));
    case '/upload': {
      request
        .bodyStream()
        ?.on('error', () => undefined)
        .resume();
      return whole('taken');
    }
    case '/last':
      return { status: 200, headers: { connection: 'close' }, body: 'bye' };
    case '/never':
      return new Promise(() => undefined);
    default:
      return whole('ok');
  }
};

const stream = fc.constantFrom(0, 1, 2, 3, 5, 7, 9, 11);
const flags = fc.constantFrom(0, 1, 4, 5, 8, 9, 0x2d);
const target = fc.constantFrom('/', '/body', '/pieces', '/large', '/upload', '/last', '/never', '/%zz');
const method = fc.constantFrom(...([GET, POST, [[':method', 'HEAD'], ...GET.slice(1)]] as Fields[]));
const bytes = fc.uint8Array({ maxLength: 30 }).map((array) => Buffer.from(array));

const at = (path: string): Fields => GET.map(([name, value]) => [name, name === ':path' ? path : value] as const);

const request = fc.tuple(stream, flags, method, target).map(([id, flag, fields, path]) =>
  headers(
    id,
    fields.map(([name, value]) => [name, name === ':path' ? path : value] as const),
    flag & Flag.endStream,
  ),
);
const anyFrame = fc.oneof(
  { weight: 4, arbitrary: request },
  fc.tuple(stream, flags, bytes).map(([id, flag, payload]) => frame(FrameType.data, flag, id, payload)),
  fc.tuple(stream, flags).map(([id, flag]) => frame(FrameType.headers, flag & 1, id, block(GET).subarray(0, 6))),
  fc.tuple(stream, flags).map(([id, flag]) => frame(FrameType.continuation, flag & 4, id, block(GET).subarray(6))),
  fc.tuple(stream, fc.nat(100_000)).map(([id, by]) => frame(FrameType.windowUpdate, 0, id, uint32(by))),
  fc.tuple(stream, fc.nat(20)).map(([id, code]) => frame(FrameType.resetStream, 0, id, uint32(code))),
  fc.tuple(fc.nat(6), fc.nat(100_000)).map(([setting, value]) => settings({ [setting]: value })),
  fc.tuple(fc.nat(12), flags, stream, bytes).map(([type, flag, id, payload]) => frame(type, flag, id, payload)),
  { weight: 1, arbitrary: bytes },
);

const TWO_FAULTS_AFTER_AN_EARLY_ANSWER: [Buffer[], boolean, number] = [
  [
    headers(7, at('/body'), 0),
    headers(9, at('/last'), 0),
    frame(FrameType.headers, 0, 0, block(GET).subarray(0, 6)),
    headers(0, GET, 0),
  ],
  true,
  0,
];

test('whatever comes, the connection answers or ends', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyFrame, { maxLength: 25 }), fc.boolean(), fc.nat(3), async (frames, apart, msEach) => {
      let nowMs = 0;
      // When the clock advances, input is read over many turns of the event loop.
      const connection = new TestConnection(handler, { maxStreams: 4, nowMs: () => (nowMs += msEach) });
      if (apart) connection.sendApart(...frames);
      else connection.send(...frames);
      const seen = await connection.frames();
      for (let scheduler = 0; connection.paused && scheduler < 30; scheduler++)
        seen.push(...(await connection.frames()));
      assert.ok(!connection.paused || connection.ended, 'all that came is read');
      assert.deepEqual(connection.errors, []);
      assert.ok(connection.connection.streams.size <= 4);
      // No GOAWAY follows the one that ends the connection.
      const goaways = seen.filter(({ type }) => type === FrameType.goaway).length;
      assert.ok(goaways <= 2);
      const ended = new Map<number, number>();
      for (const { type, flags: flag, stream: id } of seen) {
        if (type !== FrameType.headers && type !== FrameType.data) continue;
        assert.equal(ended.get(id), undefined, 'nothing comes after the end of an answer');
        if (flag & Flag.endStream) ended.set(id, 1);
      }
      connection.hangUp();
      await connection.frames();
      assert.equal(connection.connection.streams.size, 0);
    }),
    { numRuns: RUNS, examples: [TWO_FAULTS_AFTER_AN_EARLY_ANSWER] },
  );
});
