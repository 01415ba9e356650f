import assert from 'node:assert/strict';
import { it } from 'node:test';
import { LastWritten } from './last-written.js';
import type { StoredVersion } from './records.js';

const KIB = 1024;

const version = (modRevision: number, value = Buffer.alloc(10)): StoredVersion => ({
  modRevision,
  createRevision: 1,
  expiresAtMs: 0,
  version: 2,
  lease: 0n,
  value,
  checksum: 0,
  isUnchecked: false,
  isDamaged: false,
});

it('the version that was written last is known, until the key is deleted', () => {
  const written = new LastWritten();
  written.set('/a', version(2));
  written.set('/a', version(3));
  assert.equal(written.get('/a')?.modRevision, 3);
  written.set('/a', undefined);
  assert.equal(written.get('/a'), undefined);
});

it('what was written long ago is dropped, and never comes back in place of what followed it', () => {
  const written = new LastWritten();
  written.set('/old', version(2));
  written.set('/deleted', version(3));
  written.set('/grown', version(4));
  const fill = (): void => {
    for (let index = 0; index < 40; index++) written.set(`/${index}`, version(5, Buffer.alloc(63 * KIB)));
  };
  fill();
  assert.equal(written.get('/old')?.modRevision, 2);
  written.set('/deleted', undefined);
  written.set('/grown', version(6, Buffer.alloc(65 * KIB)));
  assert.equal(written.get('/deleted'), undefined);
  assert.equal(written.get('/grown'), undefined);
  fill();
  assert.equal(written.get('/old'), undefined);
});

it('what is written again takes the place of what it was, and what is written once is not kept', () => {
  const written = new LastWritten();
  written.set('/a', version(2));
  for (let revision = 3; revision < 200; revision++) written.set('/b', version(revision, Buffer.alloc(63 * KIB)));
  assert.equal(written.get('/a')?.modRevision, 2);
  assert.equal(written.get('/b')?.modRevision, 199);
  written.set('/a', { ...version(200), version: 1 });
  assert.equal(written.get('/a'), undefined);
});

it('a small part of a large buffer is not kept', () => {
  const written = new LastWritten();
  written.set('/a', version(2));
  written.set('/a', version(3, Buffer.alloc(32 * KIB).subarray(100, 200)));
  assert.equal(written.get('/a'), undefined);
});
