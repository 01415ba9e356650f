// Calls of a replica: how their arguments and results cross, and how the owner carries them out.
import type {
  ChangesPage,
  ChangesRequest,
  KeyValue,
  KeyValueStore,
  KvEvent,
  RangeRequest,
  RangeResult,
  WriteResult,
} from '../kv.js';
import type { FrameReader, FrameWriter } from './frames.js';
import { METHOD, readEvent, readKeyValue, writeEvent, writeKeyValue } from './messages.js';

export interface WriteCall {
  readonly key: string;
  /** 0: the key must not be there. */
  readonly expected: number;
  /** Absent for a delete. */
  readonly value: Buffer | undefined;
  readonly ttlSeconds: number;
}

export const writeArguments = {
  get: (out: FrameWriter, key: string, revision: number): void => {
    out.text(key);
    out.number(revision);
  },
  range: (out: FrameWriter, { start, end, revision = 0, limit = 0, countOnly = false }: RangeRequest): void => {
    out.text(start);
    out.text(end);
    out.number(revision);
    out.number(limit);
    out.number(countOnly ? 1 : 0);
  },
  write: (out: FrameWriter, { key, expected, value, ttlSeconds }: WriteCall): void => {
    out.text(key);
    out.number(expected);
    out.number(ttlSeconds);
    out.bytes(value);
  },
  changes: (out: FrameWriter, { prefix, startRevision, endRevision, maxBytes }: ChangesRequest): void => {
    out.text(prefix);
    out.number(startRevision);
    out.number(endRevision);
    out.number(maxBytes);
  },
} as const;

export const readResult = {
  get: readKeyValue,
  range: (frame: FrameReader): RangeResult => {
    const revision = frame.number();
    const count = frame.number();
    const kvs: KeyValue[] = [];
    while (frame.hasMore) {
      const kv = readKeyValue(frame);
      if (kv !== undefined) kvs.push(kv);
    }
    return { revision, count, kvs };
  },
  write: (frame: FrameReader): WriteResult => {
    const done = frame.number() === 1;
    const revision = frame.number();
    return done ? { done, revision } : { done, revision, current: readKeyValue(frame) };
  },
  changes: (frame: FrameReader): ChangesPage => {
    const upTo = frame.number();
    const events: KvEvent[] = [];
    while (frame.hasMore) {
      const event = readEvent(frame);
      const previous = readKeyValue(frame);
      if ('key' in event) events.push({ ...event, previous });
    }
    return { events, upTo };
  },
  number: (frame: FrameReader): number => frame.number(),
  nothing: (): void => undefined,
} as const;

export interface CallContext {
  readonly store: KeyValueStore;
  /** A value that is to be stored, so that its event is known again. */
  readonly onValue: (value: Buffer) => void;
}

const HEALTH_TIMEOUT_MS = 5_000;

/** Answers what writes the result. */
export async function carryOut(
  { store, onValue }: CallContext,
  frame: FrameReader,
): Promise<(out: FrameWriter) => void> {
  switch (frame.number()) {
    case METHOD.get: {
      const found = await store.get(frame.text(), { revision: frame.number() });
      return (out) => writeKeyValue(out, found);
    }
    case METHOD.range:
      return range(store, frame);
    case METHOD.write:
      return write(store, frame, onValue);
    case METHOD.changes:
      return changes(store, frame);
    case METHOD.compact:
      await store.compact(frame.number());
      return () => undefined;
    case METHOD.size: {
      const bytes = await store.sizeBytes();
      return (out) => out.number(bytes);
    }
    case METHOD.health:
      await store.health({ timeoutMs: HEALTH_TIMEOUT_MS });
      return () => undefined;
    default:
      throw new Error('an unknown method');
  }
}

async function range(store: KeyValueStore, frame: FrameReader): Promise<(out: FrameWriter) => void> {
  const [start, end] = [frame.text(), frame.text()];
  const [revision, limit] = [frame.number(), frame.number()];
  const result = await store.range({ start, end, revision, limit, countOnly: frame.number() === 1 });
  return (out) => {
    out.number(result.revision);
    out.number(result.count);
    for (const kv of result.kvs) writeKeyValue(out, kv);
  };
}

async function write(
  store: KeyValueStore,
  frame: FrameReader,
  onValue: (value: Buffer) => void,
): Promise<(out: FrameWriter) => void> {
  const key = frame.text();
  const expected = frame.number();
  const ttlSeconds = frame.number();
  const value = frame.bytes();
  if (value !== undefined) onValue(value);
  const options = ttlSeconds > 0 ? { ttlSeconds } : {};
  const result = await (value === undefined
    ? store.delete(key, expected)
    : expected === 0
      ? store.create(key, value, options)
      : store.update(key, expected, value, options));
  return (out) => {
    out.number(result.done ? 1 : 0);
    out.number(result.revision);
    if (!result.done) writeKeyValue(out, result.current);
  };
}

async function changes(store: KeyValueStore, frame: FrameReader): Promise<(out: FrameWriter) => void> {
  const prefix = frame.text();
  const [startRevision, endRevision, maxBytes] = [frame.number(), frame.number(), frame.number()];
  const page = await store.changes?.({ prefix, startRevision, endRevision, maxBytes });
  return (out) => {
    out.number(page?.upTo ?? endRevision);
    for (const event of page?.events ?? []) {
      writeEvent(out, event);
      writeKeyValue(out, event.previous);
    }
  };
}
