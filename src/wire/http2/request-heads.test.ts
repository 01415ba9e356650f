import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RequestHead } from './request-head.js';
import { RequestHeads } from './request-heads.js';
import { block, type Fields, GET, POST } from './testing.js';

function read(heads: RequestHeads, fields: Fields): RequestHead {
  const bytes = block(fields);
  const head = heads.read(bytes, 0, bytes.length);
  assert.ok(typeof head === 'object');
  return head;
}

const at = (path: string, fields: Fields): Fields =>
  fields.map(([name, value]) => (name === ':path' ? [name, path] : [name, value]));
const withLength = (length: number): Fields => [...POST, ['content-length', String(length)], ['x-who', 'jane']];

test('requests that come by turns with the same headers as before share them', () => {
  const heads = new RequestHeads();
  const get: Fields = [...GET, ['x-who', 'jane']];
  const [first, second] = [read(heads, at('/1', get)), read(heads, at('/2', withLength(10)))];
  for (let round = 3; round < 40; round += 2) {
    const [again, other] = [read(heads, at(`/${round}`, get)), read(heads, at(`/${round + 1}`, withLength(10)))];
    assert.equal(again.path, `/${round}`);
    assert.equal(again.headers, first.headers);
    assert.equal(again.rawHeaders, first.rawHeaders);
    assert.equal(other.headers, second.headers);
    assert.equal(other.method, 'POST');
  }
});

test('what differs in one header is read anew', () => {
  const heads = new RequestHeads();
  const lengths = [10, 11, 10, 12, 13, 14, 15, 10].map((length) => read(heads, at(`/${length}`, withLength(length))));
  assert.deepEqual(
    lengths.map(({ contentLength }) => contentLength),
    [10, 11, 10, 12, 13, 14, 15, 10],
  );
  assert.equal(lengths[2]?.headers, lengths[0]?.headers);
  const jane = read(heads, [...GET, ['authorization', 'Bearer jane']]);
  const john = read(heads, [...GET, ['authorization', 'Bearer john']]);
  assert.equal(jane.headers.authorization, 'Bearer jane');
  assert.equal(john.headers.authorization, 'Bearer john');
});
