// runs-on: every-node
import assert from 'node:assert/strict';
import { Duplex } from 'node:stream';
import { describe, it } from 'node:test';
import { tunnel } from './http-connect.js';

const TARGET = { host: 'far.example', port: 443 };

/** A proxy that says these pieces, one after another. */
const proxySaying = (pieces: Iterable<Buffer>): Duplex => {
  const left = pieces[Symbol.iterator]();
  return new Duplex({
    highWaterMark: 1,
    read() {
      const { value, done } = left.next();
      setImmediate(() => this.push(done ? null : value));
    },
    write: (_chunk, _encoding, written) => written(),
  });
};

const bytewise = function* (text: string): Iterable<Buffer> {
  for (const byte of Buffer.from(text)) yield Buffer.from([byte]);
};

describe('CONNECT through a proxy', () => {
  for (const end of ['\r\n\r\n', '\n\n', '\r\n\n', '\n\r\n']) {
    it(`finds the end ${JSON.stringify(end)} of its answer, whatever pieces it comes in`, async () => {
      const connection = proxySaying(bytewise(`HTTP/1.1 403 No${end}`));
      await assert.rejects(
        tunnel(connection, { proxy: 'p', target: TARGET, signal: AbortSignal.timeout(5_000) }),
        /^Error: proxy error from p while dialing far.example:443, code 403: 403 No$|code 403: 403 No/,
      );
    });
  }

  it('looks through an answer once, and gives up on one without an end', async () => {
    const piece = Buffer.alloc(16, 'a');
    const pieces = (function* () {
      yield Buffer.from('HTTP/1.1 200 OK\r\nx: ');
      for (let i = 0; i <= 4096; i++) yield piece;
    })();
    await assert.rejects(
      tunnel(proxySaying(pieces), { proxy: 'p', target: TARGET, signal: AbortSignal.timeout(20_000) }),
      /the answer has no end/,
    );
  });
});
