// How the embedded store lays out its records. Numbers are six bytes, big-endian, so that they sort and hold 2^48.
//
//   current   key                         → modRevision createRevision expiresAtMs checksum value
//   log       revision                    → kind atMs createRevision keyLength key [modRevision createRevision expiresAtMs value] checksum
//                                           the version before this change, if there was one
//   expiries  expiresAtMs modRevision     → key
//   meta      "revision"                  → revision count sum checksum: see state.ts
//             "compacted"                 → revision checksum, and what other files say of it
//
// The records of current and log are compressed by the engine (value-compression.ts).
//
// The log keeps what each change replaced, not what it wrote: the newest version of a key is in `current` only, so a
// create writes its value once, a past state is the current one with the log undone, and compaction is dropping
// the log's head.
//
// Checksums are CRC-32 and cover the record's key, too: a record that stands under another key is not what it was. Those
// that an earlier build wrote have none; the first bits say so (CHECKED, and the kind of a change).
import { checksumOf, hashOf, seedOf } from './checksum.js';

const NUMBER = 6;
const CHECKSUM = 4;
/** Revisions stay below 2^46, so that the first byte of a version has room for this. */
const CHECKED = 0x40;
const UNCHECKED_HEADER = 3 * NUMBER;
const VERSION_HEADER = UNCHECKED_HEADER + CHECKSUM;
/** A value of the largest size and its key; a longer record is damaged, and is not looked into. */
const MAX_RECORD_BYTES = 16 * 1024 * 1024;
const NO_BYTES = Buffer.alloc(0);

/** One version of a key. */
export interface Version {
  readonly modRevision: number;
  readonly createRevision: number;
  /** 0: never. */
  readonly expiresAtMs: number;
  readonly value: Buffer;
}

export interface StoredVersion extends Version {
  /** Of a record without one, what it would be. */
  readonly checksum: number;
  /** An earlier build wrote it. */
  readonly isUnchecked: boolean;
  /** It is not what was written: `value` is empty, and of the rest only `modRevision` is the one that a write must expect. */
  readonly isDamaged: boolean;
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

/** `name` is the key, encoded. */
// hot: every record that is read or written
const versionChecksum = (name: Buffer, mod: number, create: number, expiresAtMs: number, value: Buffer): number =>
  checksumOf(value, (seedOf(mod, create, expiresAtMs) ^ hashOf(name)) >>> 0);

/** The record of a version, and its checksum. */
// hot: every write
export function encodeVersion(name: Buffer, version: Version): { readonly bytes: Buffer; readonly checksum: number } {
  const { modRevision, createRevision, expiresAtMs, value } = version;
  const checksum = versionChecksum(name, modRevision, createRevision, expiresAtMs, value);
  const bytes = Buffer.allocUnsafe(VERSION_HEADER + value.length);
  writeNumbers(bytes, 0, version);
  bytes[0] = (bytes[0] ?? 0) | CHECKED;
  bytes.writeUInt32BE(checksum, UNCHECKED_HEADER);
  value.copy(bytes, VERSION_HEADER);
  return { bytes, checksum };
}

function writeNumbers(bytes: Buffer, at: number, { modRevision, createRevision, expiresAtMs }: Version): void {
  bytes.writeUIntBE(modRevision, at, NUMBER);
  bytes.writeUIntBE(createRevision, at + NUMBER, NUMBER);
  bytes.writeUIntBE(expiresAtMs, at + 2 * NUMBER, NUMBER);
}

/** Without the bit that says whether there is a checksum. */
export const modRevisionOf = (bytes: Buffer): number =>
  bytes.readUInt16BE(4) + bytes.readUInt16BE(2) * 2 ** 16 + (bytes.readUInt16BE(0) & ~(CHECKED << 8)) * 2 ** 32;

/** Decodes exactly one record. `acceptUnchecked`: a record without a checksum is accepted. */
export function decodeVersion(name: Buffer, bytes: Buffer, acceptUnchecked: boolean): StoredVersion {
  if (bytes.length < UNCHECKED_HEADER || bytes.length > MAX_RECORD_BYTES) return damagedVersion(0, 0);
  const modRevision = modRevisionOf(bytes);
  const isUnchecked = ((bytes[0] ?? 0) & CHECKED) === 0;
  if (isUnchecked ? !acceptUnchecked : bytes.length < VERSION_HEADER) return damagedVersion(modRevision, 0);
  const createRevision = numberAt(bytes, 1);
  const expiresAtMs = numberAt(bytes, 2);
  const value = bytes.subarray(isUnchecked ? UNCHECKED_HEADER : VERSION_HEADER);
  const checksum = versionChecksum(name, modRevision, createRevision, expiresAtMs, value);
  const written = isUnchecked ? checksum : bytes.readUInt32BE(UNCHECKED_HEADER);
  if (checksum !== written) return damagedVersion(modRevision, written);
  return { modRevision, createRevision, expiresAtMs, value, checksum, isUnchecked, isDamaged: false };
}

/**
 * Only the value, from a buffer that the engine shares for what it reads: `bytes.length` says how much of it that was.
 * Undefined when it is damaged.
 */
// hot: every object that is not in memory
export function valueIn(name: Buffer, bytes: Buffer, acceptUnchecked: boolean): Buffer | undefined {
  const { length } = bytes;
  if (((bytes[0] ?? 0) & CHECKED) === 0 || length < VERSION_HEADER || length > MAX_RECORD_BYTES) {
    const version = decodeVersion(name, bytes.subarray(0, length), acceptUnchecked);
    return version.isDamaged ? undefined : version.value;
  }
  const value = bytes.subarray(VERSION_HEADER, length);
  const checksum = versionChecksum(name, modRevisionOf(bytes), numberAt(bytes, 1), numberAt(bytes, 2), value);
  return checksum === bytes.readUInt32BE(UNCHECKED_HEADER) ? value : undefined;
}

const damagedVersion = (modRevision: number, checksum: number): StoredVersion => ({
  modRevision,
  createRevision: modRevision,
  expiresAtMs: 0,
  value: NO_BYTES,
  checksum,
  isUnchecked: false,
  isDamaged: true,
});

const PUT = 3;
const DELETE = 4;
/** Without a checksum. */
const UNCHECKED_PUT = 1;
const UNCHECKED_DELETE = 2;

/** `name` is the key, encoded. */
// hot: every write
export function encodeLog(
  revision: number,
  name: Buffer,
  { type, atMs, createRevision, previous }: Omit<LogRecord, 'revision' | 'key'>,
): Buffer {
  const head = LOG_HEADER + name.length;
  const end = head + (previous === undefined ? 0 : UNCHECKED_HEADER + previous.value.length);
  const bytes = Buffer.allocUnsafe(end + CHECKSUM);
  bytes[0] = type === 'put' ? PUT : DELETE;
  bytes.writeUInt16BE(name.length, 1);
  bytes.writeUIntBE(atMs, 3, NUMBER);
  bytes.writeUIntBE(createRevision, 3 + NUMBER, NUMBER);
  name.copy(bytes, LOG_HEADER);
  if (previous !== undefined) {
    writeNumbers(bytes, head, previous);
    previous.value.copy(bytes, head + UNCHECKED_HEADER);
  }
  bytes.writeUInt32BE(checksumOf(bytes.subarray(0, end), seedOf(revision)), end);
  return bytes;
}

/** The content of a log record without its checksum; undefined when it is not what was written. */
export function checkedLog(revision: number, bytes: Buffer, acceptUnchecked: boolean): Buffer | undefined {
  const kind = bytes[0];
  if (bytes.length < LOG_HEADER || bytes.length > MAX_RECORD_BYTES) return undefined;
  if (kind === UNCHECKED_PUT || kind === UNCHECKED_DELETE) return acceptUnchecked ? bytes : undefined;
  const end = bytes.length - CHECKSUM;
  const content = bytes.subarray(0, end);
  return checksumOf(content, seedOf(revision)) === bytes.readUInt32BE(end) ? content : undefined;
}

/** `content` has been checked. */
export function decodeLog(revision: number, content: Buffer): LogRecord {
  const numbers = content.subarray(3);
  const keyEnd = LOG_HEADER + content.readUInt16BE(1);
  const kind = content[0];
  return {
    revision,
    type: kind === PUT || kind === UNCHECKED_PUT ? 'put' : 'delete',
    atMs: numberAt(numbers, 0),
    createRevision: numberAt(numbers, 1),
    key: content.toString('utf8', LOG_HEADER, keyEnd),
    previous: keyEnd < content.length ? previousIn(content.subarray(keyEnd)) : undefined,
  };
}

const previousIn = (bytes: Buffer): Version => ({
  modRevision: numberAt(bytes, 0),
  createRevision: numberAt(bytes, 1),
  expiresAtMs: numberAt(bytes, 2),
  value: bytes.subarray(UNCHECKED_HEADER),
});

/** Whether the key of a log record starts with this. */
export const hasPrefix = (content: Buffer, prefix: Buffer): boolean =>
  content.readUInt16BE(1) >= prefix.length && prefix.compare(content, LOG_HEADER, LOG_HEADER + prefix.length) === 0;

/** Only the revision of the version that a change replaced; 0 where there was none. */
export function replacedRevision(bytes: Buffer): number {
  const keyEnd = LOG_HEADER + bytes.readUInt16BE(1);
  return keyEnd < bytes.length ? bytes.readUIntBE(keyEnd, NUMBER) : 0;
}

/** Only the time of a log record, for deciding what is old. */
export const logTimeMs = (bytes: Buffer): number => (bytes.length < LOG_HEADER ? 0 : bytes.readUIntBE(3, NUMBER));

/** Numbers under a name of the meta table. */
export function encodeChecked(name: Buffer, ...numbers: number[]): Buffer {
  const content = encodeNumbers(...numbers);
  const checksum = Buffer.allocUnsafe(CHECKSUM);
  checksum.writeUInt32BE(checksumOf(content, checksumOf(name, 0)));
  return Buffer.concat([content, checksum]);
}

/** The numbers, `isUnchecked` when an earlier build wrote them; undefined when they are not what was written. */
export function decodeChecked(
  name: Buffer,
  bytes: Buffer,
): { readonly numbers: readonly number[]; readonly isUnchecked: boolean } | undefined {
  const isUnchecked = bytes.length === NUMBER;
  const content = isUnchecked ? bytes : bytes.subarray(0, Math.max(0, bytes.length - CHECKSUM));
  if (content.length === 0 || content.length % NUMBER !== 0) return undefined;
  if (!isUnchecked && checksumOf(content, checksumOf(name, 0)) !== bytes.readUInt32BE(content.length)) return undefined;
  const numbers = Array.from({ length: content.length / NUMBER }, (_, index) => numberAt(content, index));
  return { numbers, isUnchecked };
}
