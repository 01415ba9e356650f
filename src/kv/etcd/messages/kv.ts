// Messages of etcd's KV service (etcdserverpb, mvccpb).
import {
  big,
  bytes,
  type Decoded,
  type Encodable,
  flag,
  id,
  int,
  later,
  many,
  message,
  one,
} from '../../../lib/protobuf/message.js';

export const RESPONSE_HEADER = message({ clusterId: id(1), memberId: id(2), revision: int(3), raftTerm: int(4) });
export type ResponseHeader = Encodable<typeof RESPONSE_HEADER>;

export const KEY_VALUE = message({
  key: bytes(1),
  createRevision: int(2),
  modRevision: int(3),
  version: int(4),
  value: bytes(5),
  lease: big(6),
});
export type EtcdKeyValue = Decoded<typeof KEY_VALUE>;

export const RANGE_REQUEST = message({
  key: bytes(1),
  rangeEnd: bytes(2),
  limit: int(3),
  revision: int(4),
  sortOrder: int(5),
  sortTarget: int(6),
  serializable: flag(7),
  keysOnly: flag(8),
  countOnly: flag(9),
  minModRevision: int(10),
  maxModRevision: int(11),
  minCreateRevision: int(12),
  maxCreateRevision: int(13),
});
export type RangeRequest = Decoded<typeof RANGE_REQUEST>;

export const RANGE_RESPONSE = message({
  header: one(1, RESPONSE_HEADER),
  kvs: many(2, KEY_VALUE),
  more: flag(3),
  count: int(4),
});

export const PUT_REQUEST = message({
  key: bytes(1),
  value: bytes(2),
  lease: big(3),
  prevKv: flag(4),
  ignoreValue: flag(5),
  ignoreLease: flag(6),
});
export type PutRequest = Decoded<typeof PUT_REQUEST>;

export const PUT_RESPONSE = message({ header: one(1, RESPONSE_HEADER), prevKv: one(2, KEY_VALUE) });

export const DELETE_RANGE_REQUEST = message({ key: bytes(1), rangeEnd: bytes(2), prevKv: flag(3) });
export type DeleteRangeRequest = Decoded<typeof DELETE_RANGE_REQUEST>;

export const DELETE_RANGE_RESPONSE = message({
  header: one(1, RESPONSE_HEADER),
  deleted: int(2),
  prevKvs: many(3, KEY_VALUE),
});

export const COMPARE_RESULT = { equal: 0, greater: 1, less: 2, notEqual: 3 } as const;
export const COMPARE_TARGET = { version: 0, create: 1, mod: 2, value: 3, lease: 4 } as const;

const COMPARE = message({
  result: int(1),
  target: int(2),
  key: bytes(3),
  version: int(4),
  createRevision: int(5),
  modRevision: int(6),
  value: bytes(7),
  lease: big(8),
  rangeEnd: bytes(64),
});
export type Compare = Decoded<typeof COMPARE>;

const REQUEST_OP = message({
  requestRange: one(1, RANGE_REQUEST),
  requestPut: one(2, PUT_REQUEST),
  requestDeleteRange: one(3, DELETE_RANGE_REQUEST),
  requestTxn: later<TxnRequest>(4, (): unknown => TXN_REQUEST),
});
export type RequestOp = Decoded<typeof REQUEST_OP>;

export interface TxnRequest {
  readonly compare: readonly Compare[];
  readonly success: readonly RequestOp[];
  readonly failure: readonly RequestOp[];
}

export const TXN_REQUEST = message({
  compare: many(1, COMPARE),
  success: many(2, REQUEST_OP),
  failure: many(3, REQUEST_OP),
});

export const RESPONSE_OP = message({
  responseRange: one(1, RANGE_RESPONSE),
  responsePut: one(2, PUT_RESPONSE),
  responseDeleteRange: one(3, DELETE_RANGE_RESPONSE),
  responseTxn: later<object>(4, (): unknown => TXN_RESPONSE),
});

export const TXN_RESPONSE = message({
  header: one(1, RESPONSE_HEADER),
  succeeded: flag(2),
  responses: many(3, RESPONSE_OP),
});

export const COMPACTION_REQUEST = message({ revision: int(1), physical: flag(2) });
