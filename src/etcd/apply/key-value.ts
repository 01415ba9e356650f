import { nameOf } from '../../kv/embedded/byte-key.js';
import type { Version } from '../../kv/embedded/records.js';
import type { EtcdKeyValue } from '../../kv/etcd/messages/kv.js';

export const etcdKeyValue = (
  key: string,
  { createRevision, modRevision, version, value, lease }: Version,
): EtcdKeyValue => ({ key: nameOf(key), createRevision, modRevision, version, value, lease });
