import assert from 'node:assert/strict';
import { it } from 'node:test';
import { readSnapshotRequest, readStartRequest } from './read-request.js';

it('reads what a cluster is to be started with', () => {
  assert.deepEqual(readStartRequest({}), { flags: [], auditLevel: 'Metadata' });
  assert.deepEqual(readStartRequest({ flags: ['-v=1'], auditLevel: 'None' }), { flags: ['-v=1'], auditLevel: 'None' });
});

it('refuses fields that it does not know, and values of another type', () => {
  const refusal = (message: string) => ({ status: 400, message });
  assert.throws(() => readStartRequest([]), refusal('the body must be an object'));
  assert.throws(() => readStartRequest({ flag: [] }), refusal('the body: unknown field "flag"'));
  assert.throws(() => readSnapshotRequest({ snapshot: 1 }), refusal('snapshot must be a string'));
  assert.throws(() => readStartRequest({ flags: [1] }), refusal('flags must be an array of strings'));
  assert.throws(
    () => readStartRequest({ auditLevel: 'All' }),
    refusal('auditLevel must be one of None, Metadata, Request, RequestResponse'),
  );
});
