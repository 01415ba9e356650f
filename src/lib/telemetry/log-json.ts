// Log lines as JSON objects: when in milliseconds, where, what, and for what is no error how verbose.
import type { LogLine } from './log-line.js';

export function jsonLine({ severity, now, file, message, fields = {} }: LogLine): string {
  const level = severity === 'E' || severity === 'F' ? {} : { v: 0 };
  return JSON.stringify({ ts: now.getTime(), caller: `${file}.ts`, msg: message, ...level, ...fields }, plainValue);
}

/** What JSON has no form for is encoded as text. */
const plainValue = (_key: string, value: unknown): unknown =>
  typeof value === 'bigint' ? String(value) : value instanceof Error ? value.message : value;
