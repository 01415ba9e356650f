// Messages of etcd's Watch service.
import { type Decoded, bytes, flag, int, ints, many, message, one, text } from '../../../lib/protobuf/message.js';
import { KEY_VALUE, RESPONSE_HEADER } from './kv.js';

export const EVENT_TYPE = { put: 0, delete: 1 } as const;
export const WATCH_FILTER = { noPut: 0, noDelete: 1 } as const;

const WATCH_CREATE = message({
  key: bytes(1),
  rangeEnd: bytes(2),
  startRevision: int(3),
  progressNotify: flag(4),
  filters: ints(5),
  prevKv: flag(6),
  watchId: int(7),
  fragment: flag(8),
});
export type WatchCreate = Decoded<typeof WATCH_CREATE>;

export const WATCH_REQUEST = message({
  createRequest: one(1, WATCH_CREATE),
  cancelRequest: one(2, message({ watchId: int(1) })),
  progressRequest: one(3, message({})),
});

export const EVENT = message({ type: int(1), kv: one(2, KEY_VALUE), prevKv: one(3, KEY_VALUE) });
export type EtcdEvent = Decoded<typeof EVENT>;

export const WATCH_RESPONSE = message({
  header: one(1, RESPONSE_HEADER),
  watchId: int(2),
  created: flag(3),
  canceled: flag(4),
  compactRevision: int(5),
  cancelReason: text(6),
  fragment: flag(7),
  events: many(11, EVENT),
});
export type WatchResponse = Decoded<typeof WATCH_RESPONSE>;

/** Of an answer to a progress request, which is about all watches of the stream, and of a watch that was refused. */
export const NO_WATCH = -1;
