// A number that two stores share when they have the same keys, values and revisions. It is not the number that etcd computes of the
// same: that one is of the pages of etcd's own file.
import { checksumOf } from '../kv/embedded/checksum.js';
import type { Mvcc } from '../kv/embedded/mvcc.js';
import { type EtcdKeyValue, KEY_VALUE } from '../kv/etcd/messages/kv.js';
import { etcdKeyValue } from './apply/key-value.js';

/** As it was after a revision; 0 for the newest. */
export async function hashOf(mvcc: Mvcc, revision: number): Promise<number> {
  const range = { start: '\0', end: undefined, limit: 0, countOnly: false, make: etcdKeyValue, gather: hashesOf };
  const { pages } = await mvcc.range(range, revision);
  return pages.reduce((hash, page) => checksumOf(page, hash), 0);
}

/** One after another: how many keys a page has makes no difference. */
function hashesOf(kvs: readonly EtcdKeyValue[]): Buffer {
  const hashes = Buffer.allocUnsafe(4 * kvs.length);
  for (const [index, kv] of kvs.entries()) hashes.writeUInt32LE(checksumOf(KEY_VALUE.encode(kv), 0), 4 * index);
  return hashes;
}
