import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LineWriter } from '../../audit/log-backend.js';
import { Channel, type Message, type Port } from '../../workers/channel.js';
import { sharedAuditLog, writeForWorkers } from './shared-audit-log.js';

/** A worker's and the supervisor's end of one channel. */
function channels(): readonly [Channel, Channel] {
  const receivers: ((message: Message) => void)[] = [];
  const port = (own: number, other: number): Port => ({
    send: (message) => queueMicrotask(() => receivers[other]?.(message)),
    onMessage: (receive) => (receivers[own] = (message) => receive(message, undefined)),
  });
  return [new Channel(port(0, 1)), new Channel(port(1, 0))];
}

const block = { bytes: Buffer.from('one\ntwo\n'), ends: [4, 8], isPart: false };

test('lines are written where the file is, and failures come back by line', async () => {
  const [worker, supervisor] = channels();
  const written: string[] = [];
  let failures: readonly (Error | undefined)[] | undefined;
  const file: LineWriter = {
    async write({ bytes }) {
      written.push(bytes.toString());
      return failures;
    },
    close: () => Promise.resolve(),
  };
  supervisor.handle('audit', writeForWorkers(file));
  const log = sharedAuditLog({ channel: worker });
  assert.equal(await log.write(block), undefined);
  assert.deepEqual(written, ['one\ntwo\n']);
  failures = [undefined, new Error('no space left on device')];
  assert.deepEqual(
    (await log.write(block))?.map((failure) => failure?.message),
    [undefined, 'no space left on device'],
  );
});

test('lines that cannot be sent any more are lost, each', async () => {
  const [worker] = channels();
  worker.close();
  const failures = await sharedAuditLog({ channel: worker }).write(block);
  assert.equal(failures?.length, 2);
  assert.match(failures?.[1]?.message ?? '', /has ended/);
});
