// etcd's messages as the client uses them: keys are texts, and of answers only what the key-value contract needs is kept.
import type { KeyValue, KvEvent } from '../kv.js';
import {
  COMPACTION_REQUEST,
  COMPARE_TARGET,
  type EtcdKeyValue,
  RANGE_REQUEST,
  RANGE_RESPONSE,
  type ResponseHeader,
  TXN_REQUEST,
  TXN_RESPONSE,
} from './messages/kv.js';
import { LEASE_GRANT_REQUEST, LEASE_GRANT_RESPONSE } from './messages/lease.js';
import { STATUS_RESPONSE } from './messages/maintenance.js';
import { EVENT_TYPE, type EtcdEvent as EventMessage, WATCH_REQUEST, WATCH_RESPONSE } from './messages/watch.js';

export interface EtcdRange {
  readonly key: string;
  readonly end?: string;
  readonly limit?: number | undefined;
  readonly revision?: number | undefined;
  readonly countOnly?: boolean | undefined;
}

export const encodeRange = ({ key, end = '', limit, revision, countOnly }: EtcdRange): Buffer =>
  RANGE_REQUEST.encode({
    key: Buffer.from(key),
    rangeEnd: Buffer.from(end),
    limit: limit ?? 0,
    revision: revision ?? 0,
    countOnly: countOnly ?? false,
  });

export interface EtcdRangeAnswer {
  readonly revision: number;
  readonly kvs: KeyValue[];
  readonly count: number;
}

export function decodeRange(bytes: Buffer): EtcdRangeAnswer {
  const { header, kvs, count } = RANGE_RESPONSE.decode(bytes);
  return { revision: revisionOf(header), kvs: kvs.map(keyValueOf), count };
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

// hot: every write
export function encodeTxn({ key: text, modRevision = 0, version, put }: EtcdTxn): Buffer {
  const key = Buffer.from(text);
  const condition =
    version === undefined
      ? { target: COMPARE_TARGET.mod, key, modRevision }
      : { target: COMPARE_TARGET.version, key, version };
  const then =
    put === undefined
      ? { requestDeleteRange: { key } }
      : { requestPut: { key, value: put.value, lease: put.lease ?? 0n } };
  return TXN_REQUEST.encode({ compare: [condition], success: [then], failure: [{ requestRange: { key } }] });
}

export interface EtcdTxnAnswer {
  readonly revision: number;
  readonly succeeded: boolean;
  /** What the read of a condition that did not hold found. */
  readonly current: KeyValue | undefined;
  readonly currentVersion: number;
}

export function decodeTxn(bytes: Buffer): EtcdTxnAnswer {
  const { header, succeeded, responses } = TXN_RESPONSE.decode(bytes);
  const found = responses[0]?.responseRange?.kvs[0];
  return {
    revision: revisionOf(header),
    succeeded,
    current: found && keyValueOf(found),
    currentVersion: found?.version ?? 0,
  };
}

export const encodeCompaction = (revision: number): Buffer => COMPACTION_REQUEST.encode({ revision });

export const encodeLeaseGrant = (ttlSeconds: number): Buffer => LEASE_GRANT_REQUEST.encode({ ttl: ttlSeconds });

export const decodeLeaseGrant = (bytes: Buffer): bigint => LEASE_GRANT_RESPONSE.decode(bytes).id;

export interface EtcdStatus {
  readonly revision: number;
  readonly version: string;
  readonly dbSizeBytes: number;
}

export function decodeStatus(bytes: Buffer): EtcdStatus {
  const { header, version, dbSize } = STATUS_RESPONSE.decode(bytes);
  return { revision: revisionOf(header), version, dbSizeBytes: dbSize };
}

export interface EtcdWatchCreate {
  readonly watchId: number;
  readonly key: string;
  readonly end: string;
  readonly startRevision: number;
  readonly previous: boolean;
}

export const encodeWatchCreate = ({ watchId, key, end, startRevision, previous }: EtcdWatchCreate): Buffer =>
  WATCH_REQUEST.encode({
    createRequest: {
      key: Buffer.from(key),
      rangeEnd: Buffer.from(end),
      startRevision,
      progressNotify: true,
      prevKv: previous,
      watchId,
    },
  });

export const encodeWatchCancel = (watchId: number): Buffer => WATCH_REQUEST.encode({ cancelRequest: { watchId } });

export const encodeWatchProgress = (): Buffer => WATCH_REQUEST.encode({ progressRequest: {} });

export interface EtcdWatchAnswer {
  readonly revision: number;
  /** -1 for an answer to a progress request, which is about all watches of the stream. */
  readonly watchId: number;
  readonly created: boolean;
  readonly canceled: boolean;
  readonly compactRevision: number;
  readonly cancelReason: string;
  readonly events: readonly KvEvent[];
}

// hot: every event
export function decodeWatch(bytes: Buffer): EtcdWatchAnswer {
  const { header, watchId, created, canceled, compactRevision, cancelReason, events } = WATCH_RESPONSE.decode(bytes);
  const revision = revisionOf(header);
  return { revision, watchId, created, canceled, compactRevision, cancelReason, events: events.map(eventOf) };
}

function eventOf({ type, kv, prevKv }: EventMessage): KvEvent {
  if (kv === undefined) throw new Error('etcd: an event without a key');
  const isDelete = type === EVENT_TYPE.delete;
  return {
    type: isDelete ? 'delete' : 'put',
    key: kv.key.toString(),
    revision: kv.modRevision,
    value: isDelete ? NO_BYTES : kv.value,
    createRevision: isDelete ? 0 : kv.createRevision,
    previous: prevKv && keyValueOf(prevKv),
  };
}

const NO_BYTES = Buffer.alloc(0);

const keyValueOf = ({ key, value, modRevision, createRevision }: EtcdKeyValue): KeyValue => ({
  key: key.toString(),
  value,
  modRevision,
  createRevision,
});

const revisionOf = (header: ResponseHeader | undefined): number => header?.revision ?? 0;
