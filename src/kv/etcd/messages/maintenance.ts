// Messages of etcd's Maintenance and Cluster services.
import { big, bytes, flag, int, many, message, one, text, texts } from '../../../lib/protobuf/message.js';
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

export const HASH_KV_REQUEST = message({ revision: int(1) });
export const HASH_KV_RESPONSE = message({ header: one(1, RESPONSE_HEADER), hash: int(2), compactRevision: int(3) });
export const HASH_RESPONSE = message({ header: one(1, RESPONSE_HEADER), hash: int(2) });

export const SNAPSHOT_RESPONSE = message({ header: one(1, RESPONSE_HEADER), remainingBytes: int(2), blob: bytes(3) });

export const ALARM_TYPE = { none: 0, noSpace: 1, corrupt: 2 } as const;
export const ALARM_ACTION = { get: 0, activate: 1, deactivate: 2 } as const;
export const ALARM_REQUEST = message({ action: int(1), memberId: big(2), alarm: int(3) });
const ALARM_MEMBER = message({ memberId: big(1), alarm: int(2) });
export const ALARM_RESPONSE = message({ header: one(1, RESPONSE_HEADER), alarms: many(2, ALARM_MEMBER) });

const MEMBER = message({ id: big(1), name: text(2), peerUrls: texts(3), clientUrls: texts(4), isLearner: flag(5) });
export const MEMBER_LIST_RESPONSE = message({ header: one(1, RESPONSE_HEADER), members: many(2, MEMBER) });

export const AUTH_STATUS_RESPONSE = message({
  header: one(1, RESPONSE_HEADER),
  enabled: flag(2),
  authRevision: int(3),
});

/** Of grpc.health.v1. */
export const HEALTH_CHECK_REQUEST = message({ service: text(1) });
export const HEALTH_CHECK_RESPONSE = message({ status: int(1) });
