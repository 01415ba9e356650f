// runs-on: every-node
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IncomingBody } from './incoming-body.js';

const ERRORS = { broken: (message: string) => new Error(message), tooLarge: (message: string) => new Error(message) };

test('chunks of any size make one body, in order', async () => {
  const body = new IncomingBody({ kind: 'chunked' }, ERRORS);
  const whole = body.read(100_000);
  let wanted = '';
  for (let i = 0; i < 600; i++) {
    const text = String(i).repeat(i % 7 === 0 ? 300 : 1);
    wanted += text;
    body.feed(Buffer.from(`${text.length.toString(16)}\r\n${text}\r\n`));
  }
  assert.equal(body.ended, false);
  assert.equal(body.feed(Buffer.from('0\r\n\r\nnext')), 5);
  assert.equal((await whole).toString(), wanted);
});

test('a body over its limit is refused at once when it says so, else when it gets there', async () => {
  const stated = new IncomingBody({ kind: 'length', bytes: 11 }, ERRORS).read(10);
  await assert.rejects(stated, /limit is 10/);
  const body = new IncomingBody({ kind: 'chunked' }, ERRORS);
  const read = body.read(3);
  body.feed(Buffer.from('2\r\nab\r\n2\r\ncd\r\n'));
  await assert.rejects(read, /limit is 3/);
});
