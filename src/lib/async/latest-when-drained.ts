import type { Writable } from 'node:stream';
import { drained } from './drained.js';

/**
 * Hands values on while `stream` accepts more. Of those that come when it does not, the newest is handed on once it
 * does again: whoever does not read is not owed the others, and nothing piles up for them.
 */
export function latestWhenDrained<T>(stream: Writable, handOn: (value: T) => void): (value: T) => void {
  let newest: { value: T } | undefined;
  return (value) => {
    if (newest !== undefined) {
      newest.value = value;
      return;
    }
    if (!stream.writableNeedDrain) return handOn(value);
    const kept = (newest = { value });
    void drained(stream).then(() => {
      newest = undefined;
      if (!stream.destroyed) handOn(kept.value);
    });
  };
}
