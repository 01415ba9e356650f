// Events, encoded. All who watch a key are sent the same bytes, which are made once.
import { nameOf } from '../../kv/embedded/byte-key.js';
import type { Change } from '../../kv/embedded/change.js';
import { EVENT, EVENT_TYPE } from '../../kv/etcd/messages/watch.js';
import { etcdKeyValue } from '../apply/key-value.js';

const plain = new WeakMap<Change, Buffer>();
const withPrevious = new WeakMap<Change, Buffer>();

// hot: for each event and watch
export function eventBytes(change: Change, hasPrevious: boolean): Buffer {
  const known = hasPrevious ? withPrevious : plain;
  let bytes = known.get(change);
  if (bytes === undefined) known.set(change, (bytes = encoded(change, hasPrevious)));
  return bytes;
}

function encoded({ key, revision, next, previous }: Change, hasPrevious: boolean): Buffer {
  const prevKv = hasPrevious && previous !== undefined ? etcdKeyValue(key, previous) : undefined;
  return next === undefined
    ? EVENT.encode({ type: EVENT_TYPE.delete, kv: { key: nameOf(key), modRevision: revision }, prevKv })
    : EVENT.encode({ type: EVENT_TYPE.put, kv: etcdKeyValue(key, next), prevKv });
}
