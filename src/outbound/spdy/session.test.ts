import assert from 'node:assert/strict';
import { Duplex } from 'node:stream';
import { test } from 'node:test';
import { CONTROL, controlFrame, dataHead, HEAD_BYTES, readHead, words } from './frames.js';
import { SpdySession } from './session.js';

/** The server's side: records what is sent, and accepts streams on demand. */
function agent() {
  const sent: Buffer[] = [];
  const socket = new Duplex({
    read: () => undefined,
    write: (chunk: Buffer, _encoding, done) => {
      sent.push(chunk);
      done();
    },
  });
  const framesOf = (type: number): number[] => {
    const ids: number[] = [];
    for (let bytes = Buffer.concat(sent); bytes.length > 0;) {
      const head = readHead(bytes);
      if (head.type === type) ids.push(bytes.readUInt32BE(HEAD_BYTES));
      bytes = bytes.subarray(HEAD_BYTES + head.length);
    }
    return ids;
  };
  return { socket, framesOf };
}

test('when a session ends, the streams whose end it has not sent are reset, and no others before', async () => {
  const { socket, framesOf } = agent();
  const session = new SpdySession(socket, Buffer.alloc(0));
  const open = async (id: number): Promise<Duplex> => {
    const opening = session.open({ streamtype: String(id) });
    socket.push(controlFrame(CONTROL.synReply, words(id)));
    return opening;
  };
  const [error, stdin, stdout] = [await open(1), await open(3), await open(5)];
  await new Promise((resolve) => stdin.end(resolve));
  // The command has said all there: nothing is reset for that.
  for (const id of [1, 5]) socket.push(dataHead(id, 0, true));
  for (const stream of [error, stdout]) for await (const _ of stream) assert.fail();
  assert.deepEqual(framesOf(CONTROL.rstStream), []);
  session.close();
  await new Promise((resolve) => socket.once('finish', resolve));
  assert.deepEqual(framesOf(CONTROL.rstStream), [1, 5]);
  assert.equal(framesOf(CONTROL.goAway).length, 1);
});
