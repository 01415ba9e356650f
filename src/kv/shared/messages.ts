// What a worker process and the one that has the store send each other, beside the arguments of calls (calls.ts).
import { type KeyValue, KvError, type KvErrorCode, type KvEvent } from '../kv.js';
import type { FrameReader, FrameWriter } from './frames.js';

/** From a replica to the owner. */
export const TO_OWNER = {
  /** pid, revision: the last one that the replica has handed to its watches; 0 for none. It has no lease of another owner. */
  hello: 1,
  /** revision: everything up to it has been received. */
  acknowledge: 2,
  /** number: of this request, which the grant repeats. */
  renew: 3,
  /** id, method, arguments. */
  call: 4,
} as const;

/** From the owner to a replica. */
export const TO_REPLICA = {
  /** revision, compacted, olderRevision: what happened up to the revision comes before it, or is of no concern to a new replica. */
  welcome: 1,
  /** compacted: what happened since the replica's revision is not known any more. It has to begin anew. */
  tooOld: 2,
  /** revision, events: they are to be held back until they are released. */
  events: 3,
  /** revision, compacted: events up to it may be handed to watches. */
  release: 4,
  /** number: of the request. */
  grant: 5,
  /** id, error or result. */
  answer: 6,
} as const;

export const METHOD = { get: 1, range: 2, write: 3, changes: 4, compact: 5, size: 6, health: 7 } as const;

/** An event of a write of the replica itself, which has the key and value: by the id of its call. */
export interface OwnEvent {
  readonly call: number;
  readonly revision: number;
  readonly createRevision: number;
}

const PUT = 0;
const DELETE = 1;
const OWN = 2;

export function writeEvent(out: FrameWriter, event: KvEvent): void {
  out.number(event.type === 'put' ? PUT : DELETE);
  out.number(event.revision);
  out.text(event.key);
  if (event.type === 'delete') return;
  out.number(event.createRevision);
  out.bytes(event.value);
}

export function writeOwnEvent(out: FrameWriter, { call, revision, createRevision }: OwnEvent): void {
  out.number(OWN);
  out.number(revision);
  out.number(call);
  out.number(createRevision);
}

const NO_BYTES = Buffer.alloc(0);

export function readEvent(frame: FrameReader): KvEvent | OwnEvent {
  const kind = frame.number();
  const revision = frame.number();
  if (kind === OWN) return { revision, call: frame.number(), createRevision: frame.number() };
  const key = frame.text();
  if (kind === DELETE) {
    return { type: 'delete', key, revision, value: NO_BYTES, createRevision: 0, previous: undefined };
  }
  const createRevision = frame.number();
  return { type: 'put', key, revision, createRevision, value: frame.bytes() ?? NO_BYTES, previous: undefined };
}

export function writeKeyValue(out: FrameWriter, kv: KeyValue | undefined): void {
  out.bytes(kv?.value);
  if (kv === undefined) return;
  out.text(kv.key);
  out.number(kv.modRevision);
  out.number(kv.createRevision);
}

export function readKeyValue(frame: FrameReader): KeyValue | undefined {
  const value = frame.bytes();
  if (value === undefined) return undefined;
  return { value, key: frame.text(), modRevision: frame.number(), createRevision: frame.number() };
}

export function writeError(out: FrameWriter, error: unknown): void {
  const { code, message, details } = error instanceof KvError ? error : new KvError('unavailable', String(error));
  out.text(code);
  out.text(message);
  out.number(details.compactedRevision ?? 0);
  out.number(details.currentRevision ?? 0);
  out.number(details.records?.length ?? 0);
  for (const { key, revision } of details.records ?? []) {
    out.text(key);
    out.number(revision);
  }
}

export function readError(frame: FrameReader): KvError {
  const code = frame.text() as KvErrorCode;
  const message = frame.text();
  const compactedRevision = frame.number();
  const currentRevision = frame.number();
  const records = Array.from({ length: frame.number() }, () => ({ key: frame.text(), revision: frame.number() }));
  return new KvError(code, message, {
    ...(compactedRevision > 0 && { compactedRevision }),
    ...(currentRevision > 0 && { currentRevision }),
    ...(records.length > 0 && { records }),
  });
}
