// A number that two stores share when they have the same keys, values and revisions. It is not the number that etcd computes of the
// same: that one is of the pages of etcd's own file.
import { checksumOf } from '../kv/embedded/checksum.js';
import type { Mvcc } from '../kv/embedded/mvcc.js';
import { KEY_VALUE } from '../kv/etcd/messages/kv.js';
import { etcdKeyValue } from './apply/key-value.js';

/** Keys that are read at once. */
const PAGE_KEYS = 500;

/** As it was after a revision; 0 for the newest. */
export async function hashOf(mvcc: Mvcc, revision: number): Promise<number> {
  const at = revision === 0 ? mvcc.revision : revision;
  let hash = 0;
  let start = '\0';
  for (;;) {
    const range = { start, end: undefined, limit: PAGE_KEYS, countOnly: false, make: etcdKeyValue };
    const { kvs } = await mvcc.range(range, at);
    for (const kv of kvs) hash = checksumOf(KEY_VALUE.encode(kv), hash);
    const last = kvs[kvs.length - 1];
    if (last === undefined || kvs.length < PAGE_KEYS) return hash;
    start = `${last.key.toString('latin1')}\0`;
  }
}
