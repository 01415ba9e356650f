// Messages of etcd's Maintenance and Cluster services.
import { big, int, message, one, text, texts } from '../../../lib/protobuf/message.js';
import { RESPONSE_HEADER } from './kv.js';

/** Of answers that say nothing more. */
export const HEADER_ONLY = message({ header: one(1, RESPONSE_HEADER) });

export const STATUS_RESPONSE = message({
  header: one(1, RESPONSE_HEADER),
  version: text(2),
  dbSize: int(3),
  leader: big(4),
  raftIndex: int(5),
  raftTerm: int(6),
  raftAppliedIndex: int(7),
  errors: texts(8),
  dbSizeInUse: int(9),
});
