// Records as builds of the formats 1 and 2 wrote them, for tests.
import { encodeNumbers, type LogRecord, type Version } from './records.js';

type UncheckedVersion = Omit<Version, 'version' | 'lease'>;

export const uncheckedVersion = ({ modRevision, createRevision, expiresAtMs, value }: UncheckedVersion): Buffer =>
  Buffer.concat([encodeNumbers(modRevision, createRevision, expiresAtMs), value]);

export function uncheckedLog(
  name: Buffer,
  {
    type,
    atMs,
    createRevision,
    previous,
  }: Omit<LogRecord, 'revision' | 'key' | 'previous'> & { readonly previous: UncheckedVersion | undefined },
): Buffer {
  const head = Buffer.from([type === 'put' ? 1 : 2, name.length >> 8, name.length & 0xff]);
  const numbers = encodeNumbers(atMs, createRevision);
  return Buffer.concat([head, numbers, name, ...(previous === undefined ? [] : [uncheckedVersion(previous)])]);
}
