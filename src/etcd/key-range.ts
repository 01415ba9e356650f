// How etcd's requests say which keys they mean: one key; from a key to before another; with an end of a zero byte, all from a key on.
import { byteKeyIn } from '../kv/embedded/byte-key.js';

export interface KeySpan {
  readonly start: string;
  /** First key no longer wanted; absent where there is no end. */
  readonly end: string | undefined;
  readonly isOneKey: boolean;
}

export function spanOf({ key, rangeEnd }: { readonly key: Buffer; readonly rangeEnd: Buffer }): KeySpan {
  const start = byteKeyIn(key);
  if (rangeEnd.length === 0) return { start, end: `${start}\0`, isOneKey: true };
  const isOpen = rangeEnd.length === 1 && rangeEnd[0] === 0;
  return { start, end: isOpen ? undefined : byteKeyIn(rangeEnd), isOneKey: false };
}
