import type { Writable } from 'node:stream';
import { isPlainObject } from '../../lib/plain-object.js';

const MAX_SIZE = 0xffff;

/** Takes messages with a terminal's size and writes each in the agent's form. What is no size ends it. */
export function forwardSizes(to: Writable): (message: Buffer) => void {
  let isOver = false;
  return (message) => {
    if (isOver) return;
    try {
      for (const line of message.toString().split('\n')) {
        if (line.trim() !== '') to.write(`${JSON.stringify(readSize(JSON.parse(line)))}\n`);
      }
    } catch {
      isOver = true;
    }
  };
}

function readSize(told: unknown): { Width: number; Height: number } {
  if (!isPlainObject(told)) throw new Error('no size');
  const member = (name: string): number => {
    const key = Object.keys(told).find((one) => one.toLowerCase() === name);
    const value = key === undefined ? 0 : told[key];
    if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > MAX_SIZE) {
      throw new Error('no size');
    }
    return value;
  };
  return { Width: member('width'), Height: member('height') };
}
