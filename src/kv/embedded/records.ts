// How the embedded store lays out its records. Numbers are six bytes, big-endian, so that they sort and hold 2^48.
//
//   current   key                         → modRevision createRevision expiresAtMs value
//   log       revision                    → kind atMs createRevision keyLength key [modRevision createRevision expiresAtMs value]
//                                           the version before this change, if there was one
//   expiries  expiresAtMs modRevision     → key
//   meta      "revision" | "compacted"    → number, and what other files say of it
//
// The records of current and log are compressed by the engine (value-compression.ts).
//
// The log keeps what each change replaced, not what it wrote: the newest version of a key is in `current` only, so a
// create writes its value once, a past state is the current one with the log undone, and compaction is dropping
// the log's head.

const NUMBER = 6;
const VERSION_HEADER = 3 * NUMBER;

/** One stored version of a key. */
export interface Version {
  readonly modRevision: number;
  readonly createRevision: number;
  /** 0: never. */
  readonly expiresAtMs: number;
  readonly value: Buffer;
}

export interface LogRecord {
  readonly revision: number;
  readonly type: 'put' | 'delete';
  readonly atMs: number;
  readonly createRevision: number;
  readonly key: string;
  readonly previous: Version | undefined;
}

export function encodeNumbers(...numbers: number[]): Buffer {
  const bytes = Buffer.allocUnsafe(numbers.length * NUMBER);
  for (const [index, number] of numbers.entries()) bytes.writeUIntBE(number, index * NUMBER, NUMBER);
  return bytes;
}

const LOG_HEADER = 3 + 2 * NUMBER;

export const numberAt = (bytes: Buffer, index: number): number => bytes.readUIntBE(index * NUMBER, NUMBER);

// hot: every write
export function encodeVersion(version: Version): Buffer {
  const bytes = Buffer.allocUnsafe(VERSION_HEADER + version.value.length);
  writeVersion(bytes, 0, version);
  return bytes;
}

function writeVersion(bytes: Buffer, at: number, { modRevision, createRevision, expiresAtMs, value }: Version): void {
  bytes.writeUIntBE(modRevision, at, NUMBER);
  bytes.writeUIntBE(createRevision, at + NUMBER, NUMBER);
  bytes.writeUIntBE(expiresAtMs, at + 2 * NUMBER, NUMBER);
  value.copy(bytes, at + VERSION_HEADER);
}

export const decodeVersion = (bytes: Buffer): Version => ({
  modRevision: numberAt(bytes, 0),
  createRevision: numberAt(bytes, 1),
  expiresAtMs: numberAt(bytes, 2),
  value: bytes.subarray(VERSION_HEADER),
});

/** Only the value of a version. The engine shares one buffer for what it reads and says how much of it that was. */
export const valueIn = (bytes: Buffer): Buffer => bytes.subarray(VERSION_HEADER, bytes.length);

/** `name` is the key, encoded. */
// hot: every write
export function encodeLog(
  name: Buffer,
  { type, atMs, createRevision, previous }: Omit<LogRecord, 'revision' | 'key'>,
): Buffer {
  const head = LOG_HEADER + name.length;
  const bytes = Buffer.allocUnsafe(head + (previous === undefined ? 0 : VERSION_HEADER + previous.value.length));
  bytes[0] = type === 'put' ? 1 : 2;
  bytes.writeUInt16BE(name.length, 1);
  bytes.writeUIntBE(atMs, 3, NUMBER);
  bytes.writeUIntBE(createRevision, 3 + NUMBER, NUMBER);
  name.copy(bytes, LOG_HEADER);
  if (previous !== undefined) writeVersion(bytes, head, previous);
  return bytes;
}

export function decodeLog(revision: number, bytes: Buffer): LogRecord {
  const numbers = bytes.subarray(3);
  const keyEnd = LOG_HEADER + bytes.readUInt16BE(1);
  return {
    revision,
    type: bytes[0] === 1 ? 'put' : 'delete',
    atMs: numberAt(numbers, 0),
    createRevision: numberAt(numbers, 1),
    key: bytes.toString('utf8', LOG_HEADER, keyEnd),
    previous: keyEnd < bytes.length ? decodeVersion(bytes.subarray(keyEnd)) : undefined,
  };
}

/** Whether the key of a log record starts with this. */
export const hasPrefix = (bytes: Buffer, prefix: Buffer): boolean =>
  bytes.readUInt16BE(1) >= prefix.length && prefix.compare(bytes, LOG_HEADER, LOG_HEADER + prefix.length) === 0;

/** Only the time of a log record, for deciding what is old. */
export const logTimeMs = (bytes: Buffer): number => bytes.readUIntBE(3, NUMBER);
