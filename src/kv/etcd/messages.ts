// etcd's messages, as far as we speak them (etcdserverpb and mvccpb).
import type { KeyValue } from '../kv.js';
import { asBytes, asNumber, asText, ProtoWriter, readFields, readInt } from '../../lib/protobuf/wire.js';

const NO_BYTES = Buffer.alloc(0);

const message = (): ProtoWriter => new ProtoWriter();

export interface EtcdRange {
  readonly key: string;
  readonly end?: string;
  readonly limit?: number;
  readonly revision?: number;
  readonly keysOnly?: boolean;
  readonly countOnly?: boolean;
}

export const encodeRange = (range: EtcdRange): Buffer => rangeMessage(range).finish();

const rangeMessage = ({ key, end = '', limit = 0, revision = 0, keysOnly, countOnly }: EtcdRange): ProtoWriter =>
  message()
    .bytes(1, key)
    .bytes(2, end)
    .int(3, limit)
    .int(4, revision)
    .int(8, keysOnly === true)
    .int(9, countOnly === true);

export interface EtcdRangeAnswer {
  readonly revision: number;
  readonly kvs: KeyValue[];
  /** Of each key: how often it was written since it was created. */
  readonly versions: number[];
  readonly count: number;
}

export function decodeRange(bytes: Buffer): EtcdRangeAnswer {
  let revision = 0;
  let count = 0;
  const kvs: KeyValue[] = [];
  const versions: number[] = [];
  readFields(bytes, (field, value) => {
    if (field === 1) revision = decodeHeader(asBytes(value));
    else if (field === 2) {
      const { kv, version } = decodeKeyValue(asBytes(value));
      kvs.push(kv);
      versions.push(version);
    } else if (field === 4) count = asNumber(value);
  });
  return { revision, kvs, versions, count };
}

/** A condition on one key, what to do when it holds, and reading the key when it does not. */
export interface EtcdTxn {
  readonly key: string;
  /** The modification revision the key must have, 0 for none; or the version it must have. */
  readonly modRevision?: number;
  readonly version?: number;
  /** Absent: deletes the key. */
  readonly put?: { readonly value: Buffer; readonly lease?: bigint };
}

export function encodeTxn({ key, modRevision, version, put }: EtcdTxn): Buffer {
  const condition =
    version === undefined
      ? message()
          .int(2, 2)
          .bytes(3, key)
          .int(6, modRevision ?? 0)
      : message().bytes(3, key).int(4, version);
  const then =
    put === undefined
      ? message().message(3, message().bytes(1, key))
      : message().message(
          2,
          message()
            .bytes(1, key)
            .bytes(2, put.value)
            .int(3, put.lease ?? 0n),
        );
  const otherwise = message().message(1, rangeMessage({ key }));
  return message().message(1, condition).message(2, then).message(3, otherwise).finish();
}

export interface EtcdTxnAnswer {
  readonly revision: number;
  readonly succeeded: boolean;
  /** What the read of a condition that did not hold found. */
  readonly current: KeyValue | undefined;
  readonly currentVersion: number;
}

export function decodeTxn(bytes: Buffer): EtcdTxnAnswer {
  let revision = 0;
  let succeeded = false;
  let current: KeyValue | undefined;
  let currentVersion = 0;
  readFields(bytes, (field, value) => {
    if (field === 1) revision = decodeHeader(asBytes(value));
    else if (field === 2) succeeded = asNumber(value) !== 0;
    else if (field === 3) {
      readFields(asBytes(value), (operation, answer) => {
        if (operation !== 1) return;
        const range = decodeRange(asBytes(answer));
        current = range.kvs[0];
        currentVersion = range.versions[0] ?? 0;
      });
    }
  });
  return { revision, succeeded, current, currentVersion };
}

export const encodeCompaction = (revision: number): Buffer => message().int(1, revision).finish();

export const encodeLeaseGrant = (ttlSeconds: number): Buffer => message().int(1, ttlSeconds).finish();

export function decodeLeaseGrant(bytes: Buffer): bigint {
  let id = 0n;
  readFields(bytes, (field, value) => {
    if (field === 2 && !Buffer.isBuffer(value)) id = BigInt(value);
  });
  return id;
}

export interface EtcdStatus {
  readonly revision: number;
  readonly version: string;
  readonly dbSizeBytes: number;
}

export function decodeStatus(bytes: Buffer): EtcdStatus {
  let revision = 0;
  let version = '';
  let dbSizeBytes = 0;
  readFields(bytes, (field, value) => {
    if (field === 1) revision = decodeHeader(asBytes(value));
    else if (field === 2) version = asText(value);
    else if (field === 3) dbSizeBytes = asNumber(value);
  });
  return { revision, version, dbSizeBytes };
}

export interface EtcdWatchCreate {
  readonly watchId: number;
  readonly key: string;
  readonly end: string;
  readonly startRevision: number;
  readonly previous: boolean;
}

export const encodeWatchCreate = ({ watchId, key, end, startRevision, previous }: EtcdWatchCreate): Buffer =>
  message()
    .message(
      1,
      message().bytes(1, key).bytes(2, end).int(3, startRevision).int(4, true).int(6, previous).int(7, watchId),
    )
    .finish();

export const encodeWatchCancel = (watchId: number): Buffer => message().message(2, message().int(1, watchId)).finish();

export const encodeWatchProgress = (): Buffer => message().message(3, message()).finish();

export interface EtcdEvent {
  readonly type: 'put' | 'delete';
  readonly kv: KeyValue;
  readonly previous: KeyValue | undefined;
}

export interface EtcdWatchAnswer {
  readonly revision: number;
  /** -1 for an answer to a progress request, which is about all watches of the stream. */
  readonly watchId: number;
  readonly created: boolean;
  readonly canceled: boolean;
  readonly compactRevision: number;
  readonly cancelReason: string;
  readonly events: EtcdEvent[];
}

export function decodeWatch(bytes: Buffer): EtcdWatchAnswer {
  const answer = { revision: 0, watchId: 0, created: false, canceled: false, compactRevision: 0, cancelReason: '' };
  const events: EtcdEvent[] = [];
  readFields(bytes, (field, value) => {
    switch (field) {
      case 1:
        answer.revision = decodeHeader(asBytes(value));
        break;
      case 2:
        answer.watchId = asNumber(value);
        break;
      case 3:
        answer.created = asNumber(value) !== 0;
        break;
      case 4:
        answer.canceled = asNumber(value) !== 0;
        break;
      case 5:
        answer.compactRevision = asNumber(value);
        break;
      case 6:
        answer.cancelReason = asText(value);
        break;
      case 11:
        events.push(decodeEvent(asBytes(value)));
        break;
      default:
    }
  });
  return { ...answer, events };
}

function decodeEvent(bytes: Buffer): EtcdEvent {
  let type: 'put' | 'delete' = 'put';
  let kv: KeyValue | undefined;
  let previous: KeyValue | undefined;
  readFields(bytes, (field, value) => {
    if (field === 1) type = asNumber(value) === 1 ? 'delete' : 'put';
    else if (field === 2) kv = decodeKeyValue(asBytes(value)).kv;
    else if (field === 3) previous = decodeKeyValue(asBytes(value)).kv;
  });
  if (kv === undefined) throw new Error('etcd: an event without a key');
  return { type, kv, previous };
}

function decodeKeyValue(bytes: Buffer): { kv: KeyValue; version: number } {
  let key = '';
  let value: Buffer = NO_BYTES;
  let modRevision = 0;
  let createRevision = 0;
  let version = 0;
  readFields(bytes, (field, part) => {
    if (field === 1) key = asText(part);
    else if (field === 2) createRevision = asNumber(part);
    else if (field === 3) modRevision = asNumber(part);
    else if (field === 4) version = asNumber(part);
    else if (field === 5) value = asBytes(part);
  });
  return { kv: { key, value, modRevision, createRevision }, version };
}

/** Of a header only the revision is wanted: the ids in front of it are 64 bits each. */
const decodeHeader = (bytes: Buffer): number => readInt(bytes, 3);
