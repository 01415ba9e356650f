import type { Writable } from 'node:stream';
import { latestWhenDrained } from '../../lib/async/latest-when-drained.js';
import { isPlainObject } from '../../lib/values/plain-object.js';

const MAX_SIZE = 0xffff;
/** A size is a few words; a message may have some of them. */
const MAX_MESSAGE_BYTES = 4096;

/**
 * Receives messages with a terminal's size and writes each in the kubelet's form. While the kubelet does not read, only
 * the last counts. A message that is no size ends it.
 */
export function forwardSizes(to: Writable): (message: Buffer) => void {
  let isOver = false;
  const send = latestWhenDrained(to, (size: string) => void to.write(size));
  return (message) => {
    isOver ||= message.length > MAX_MESSAGE_BYTES;
    if (isOver) return;
    try {
      for (const line of message.toString().split('\n')) {
        if (line.trim() !== '') send(`${JSON.stringify(readSize(JSON.parse(line)))}\n`);
      }
    } catch {
      isOver = true;
    }
  };
}

function readSize(size: unknown): { Width: number; Height: number } {
  if (!isPlainObject(size)) throw new Error('no size');
  const member = (name: string): number => {
    const key = Object.keys(size).find((one) => one.toLowerCase() === name);
    const value = key === undefined ? 0 : size[key];
    if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > MAX_SIZE) {
      throw new Error('no size');
    }
    return value;
  };
  return { Width: member('width'), Height: member('height') };
}
