// A change of one key, as commits make it and history has it.
import type { KeyValue, KvEvent } from '../kv.js';
import { textOf } from './byte-key.js';
import type { Version } from './records.js';

export interface Change {
  /** A byte key (byte-key.ts). */
  readonly key: string;
  readonly revision: number;
  /** Absent for a delete. */
  readonly next: Version | undefined;
  /** Absent also where it is damaged: then nothing can be said of before. */
  readonly previous: Version | undefined;
}

const NO_BYTES = Buffer.alloc(0);

export function eventOf({ key, revision, next, previous }: Change): KvEvent {
  const text = textOf(key);
  return {
    type: next === undefined ? 'delete' : 'put',
    key: text,
    revision,
    value: next?.value ?? NO_BYTES,
    createRevision: next?.createRevision ?? 0,
    previous: previous && keyValueOf(text, previous),
  };
}

/** `key` is the contract's: a text. */
export const keyValueOf = (key: string, { value, modRevision, createRevision }: Version): KeyValue => ({
  key,
  value,
  modRevision,
  createRevision,
});

/** From a byte key. */
export const foundKeyValue = (byteKey: string, version: Version): KeyValue => keyValueOf(textOf(byteKey), version);
