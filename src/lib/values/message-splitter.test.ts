import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { MessageSplitter } from './message-splitter.js';

const head = { bytes: 2, lengthIn: (buffer: Buffer) => buffer.readUInt16BE(0) };
const framed = (message: Uint8Array): Buffer => {
  const bytes = Buffer.alloc(2 + message.length);
  bytes.writeUInt16BE(message.length);
  bytes.set(message, 2);
  return bytes;
};

test('messages come whole and in order, however their bytes are cut', () => {
  fc.assert(
    fc.property(
      fc.array(fc.uint8Array({ maxLength: 20 }), { maxLength: 8 }),
      fc.array(fc.integer({ min: 1, max: 15 }), { minLength: 1, maxLength: 10 }),
      (messages, sizes) => {
        const stream = Buffer.concat(messages.map(framed));
        const splitter = new MessageSplitter(head);
        const found: string[] = [];
        for (let at = 0, cut = 0; at < stream.length; cut++) {
          const size = sizes[cut % sizes.length] ?? 1;
          for (const message of splitter.take(stream.subarray(at, at + size))) found.push(message.toString('hex'));
          at += size;
        }
        assert.deepEqual(
          found,
          messages.map((message) => Buffer.from(message).toString('hex')),
        );
        assert.equal(splitter.isInside, false);
      },
    ),
  );
});

test('a head that is none fails as soon as it is whole', () => {
  const splitter = new MessageSplitter({
    bytes: 2,
    lengthIn: () => {
      throw new Error('too large');
    },
  });
  assert.deepEqual(splitter.take(Buffer.from([1])), []);
  assert.throws(() => splitter.take(Buffer.from([2])), /too large/);
});
