// How the embedded store lays out its records. Numbers are six bytes, big-endian, so that they sort and hold 2^48.
//
//   current   key                         → modRevision createRevision expiresAtMs checksum [more] value
//   log       revision [place]            → kind atMs createRevision keyLength key [modRevision createRevision expiresAtMs [more] value]
//                                           checksum: the version before this change, if there was one
//   expiries  expiresAtMs modRevision     → key
//   leases    id                          → ttlSeconds checksum
//   leased    id key                      → nothing: the keys of a lease
//   meta      "revision"                  → revision count sum checksum: see state.ts
//             "compacted"                 → revision checksum, and what other files say of it
//
// The records of current and log are compressed by the engine (value-compression.ts).
//
// The log keeps what each change replaced, not what it wrote: the newest version of a key is in `current` only, so a
// create writes its value once, a past state is the current one with the log undone, and compaction is dropping
// the log's head.
//
// `more` stands where a version has more to say than the numbers before it: a byte with HAS_LEASE, how often the key was written
// since it was created, and its lease. A version that was just created, without a lease, has none.
//
// A transaction may change several keys: they have one revision, and a place in it from 0 on. Place 0 is not written, four bytes
// are for the others (so they sort between their revision and the next), and all but the last have MORE_FOLLOW.
//
// Checksums are CRC-32 and cover the record's key, too: a record that stands under another key is not what it was. Those
// that an earlier build wrote have none; the first bits say so (CHECKED, and the kind of a change).
import { checksumOf, hashOf, seedOf } from './checksum.js';

const NUMBER = 6;
const CHECKSUM = 4;
/** Revisions stay below 2^45, so that the first byte of a version has room for these, and is below 250 (value-compression.ts). */
const CHECKED = 0x40;
const EXTENDED = 0x80;
/** Of `more`. */
const HAS_LEASE = 1;
const LEASE = 8;
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
  /** How often the key was written since it was created, and then. Of what an earlier build wrote twice or more often: 2. */
  readonly version: number;
  /** 0: none. The key is deleted with its lease. */
  readonly lease: bigint;
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
  /** A character a byte. */
  readonly key: string;
  readonly previous: Version | undefined;
}

export function encodeNumbers(...numbers: number[]): Buffer {
  const bytes = Buffer.allocUnsafe(numbers.length * NUMBER);
  writeEach(bytes, numbers);
  return bytes;
}

function writeEach(bytes: Buffer, numbers: readonly number[]): void {
  for (let index = 0; index < numbers.length; index++) writeNumber(bytes, index * NUMBER, numbers[index] ?? 0);
}

const LOG_HEADER = 3 + 2 * NUMBER;

export const numberAt = (bytes: Buffer, index: number): number => readNumber(bytes, index * NUMBER);

// By byte: Node.js's own calls take four functions each, a dozen times for a write.
function writeNumber(bytes: Buffer, at: number, number: number): void {
  if (!(number >= 0 && number < 2 ** 48)) throw new RangeError(`${number} does not fit into six bytes`);
  const high = Math.trunc(number / 2 ** 32);
  bytes[at] = high >>> 8;
  bytes[at + 1] = high;
  bytes[at + 2] = number >>> 24;
  bytes[at + 3] = number >>> 16;
  bytes[at + 4] = number >>> 8;
  bytes[at + 5] = number;
}

function readNumber(bytes: Buffer, at: number): number {
  if (at + NUMBER > bytes.length) throw new RangeError(`no number at ${at} of ${bytes.length} bytes`);
  const high = ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
  return (high * 2 ** 8 + (bytes[at + 2] ?? 0)) * 2 ** 24 + threeBytesAt(bytes, at + 3);
}

const threeBytesAt = (bytes: Buffer, at: number): number =>
  ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);

/** `name` is the key, encoded. `seed` is of the numbers before the checksum. `rest` is what stands after it. */
// hot: every record that is read or written
const versionChecksum = (name: Buffer, seed: number, rest: Buffer): number =>
  checksumOf(rest, (seed ^ hashOf(name)) >>> 0);

/** The record of a version, and its checksum. */
// hot: every write
export function encodeVersion(name: Buffer, version: Version): { readonly bytes: Buffer; readonly checksum: number } {
  const { modRevision, createRevision, expiresAtMs, value } = version;
  const more = moreBytes(version);
  const bytes = Buffer.allocUnsafe(VERSION_HEADER + more + value.length);
  writeNumbers(bytes, 0, version);
  bytes[0] = (bytes[0] ?? 0) | CHECKED | (more === 0 ? 0 : EXTENDED);
  if (more > 0) writeMore(bytes, VERSION_HEADER, version);
  bytes.set(value, VERSION_HEADER + more);
  const seed = seedOf(modRevision, createRevision, expiresAtMs);
  const checksum = versionChecksum(name, seed, bytes.subarray(VERSION_HEADER));
  bytes.writeUInt32BE(checksum, UNCHECKED_HEADER);
  return { bytes, checksum };
}

function writeNumbers(bytes: Buffer, at: number, { modRevision, createRevision, expiresAtMs }: Version): void {
  writeNumber(bytes, at, modRevision);
  writeNumber(bytes, at + NUMBER, createRevision);
  writeNumber(bytes, at + 2 * NUMBER, expiresAtMs);
}

const moreBytes = ({ modRevision, createRevision, version, lease }: Version): number =>
  lease !== 0n ? 1 + NUMBER + LEASE : version === unwrittenVersion(modRevision, createRevision) ? 0 : 1 + NUMBER;

/** What a record without `more` has been written at least. */
const unwrittenVersion = (modRevision: number, createRevision: number): number =>
  modRevision === createRevision ? 1 : 2;

function writeMore(bytes: Buffer, at: number, { version, lease }: Version): void {
  bytes[at] = lease === 0n ? 0 : HAS_LEASE;
  writeNumber(bytes, at + 1, version);
  if (lease !== 0n) bytes.writeBigInt64BE(lease, at + 1 + NUMBER);
}

interface More {
  readonly version: number;
  readonly lease: bigint;
  /** Where the value begins. */
  readonly end: number;
}

/** Undefined where it is not whole. */
function moreAt(bytes: Buffer, at: number): More | undefined {
  const hasLease = bytes[at] === HAS_LEASE;
  const end = at + 1 + NUMBER + (hasLease ? LEASE : 0);
  if (end > bytes.length) return undefined;
  const version = readNumber(bytes, at + 1);
  return { version, lease: hasLease ? bytes.readBigInt64BE(at + 1 + NUMBER) : 0n, end };
}

/** Without the bits that say what follows. */
export const modRevisionOf = (bytes: Buffer): number =>
  readNumber(bytes, 0) - ((bytes[0] ?? 0) & (CHECKED | EXTENDED)) * 2 ** 40;

/** Decodes exactly one record. `acceptUnchecked`: a record without a checksum is accepted. */
export function decodeVersion(name: Buffer, bytes: Buffer, acceptUnchecked: boolean): StoredVersion {
  if (bytes.length < UNCHECKED_HEADER || bytes.length > MAX_RECORD_BYTES) return damagedVersion(0, 0);
  const modRevision = modRevisionOf(bytes);
  const isUnchecked = ((bytes[0] ?? 0) & CHECKED) === 0;
  if (isUnchecked ? !acceptUnchecked : bytes.length < VERSION_HEADER) return damagedVersion(modRevision, 0);
  const createRevision = numberAt(bytes, 1);
  const expiresAtMs = numberAt(bytes, 2);
  const start = isUnchecked ? UNCHECKED_HEADER : VERSION_HEADER;
  const rest = bytes.subarray(start);
  const checksum = versionChecksum(name, seedOf(modRevision, createRevision, expiresAtMs), rest);
  const written = isUnchecked ? checksum : bytes.readUInt32BE(UNCHECKED_HEADER);
  const isExtended = ((bytes[0] ?? 0) & EXTENDED) !== 0;
  const more = isExtended ? moreAt(bytes, start) : undefined;
  if (checksum !== written || isExtended !== (more !== undefined)) return damagedVersion(modRevision, written);
  const version = more?.version ?? unwrittenVersion(modRevision, createRevision);
  const value = more === undefined ? rest : bytes.subarray(more.end);
  const lease = more?.lease ?? 0n;
  return {
    modRevision,
    createRevision,
    expiresAtMs,
    version,
    lease,
    value,
    checksum,
    isUnchecked,
    isDamaged: false,
  };
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
  const rest = bytes.subarray(VERSION_HEADER, length);
  const seed = seedOf(modRevisionOf(bytes), numberAt(bytes, 1), numberAt(bytes, 2));
  const checksum = versionChecksum(name, seed, rest);
  if (checksum !== bytes.readUInt32BE(UNCHECKED_HEADER)) return undefined;
  if (((bytes[0] ?? 0) & EXTENDED) === 0) return rest;
  const more = moreAt(rest, 0);
  return more && rest.subarray(more.end);
}

const damagedVersion = (modRevision: number, checksum: number): StoredVersion => ({
  modRevision,
  createRevision: modRevision,
  expiresAtMs: 0,
  version: 1,
  lease: 0n,
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
const KIND = 0x0f;
/** The version that was replaced has `more`. */
const EXTENDED_PREVIOUS = 0x10;
/** Further changes have the same revision. */
const MORE_FOLLOW = 0x20;
const PLACE = 4;

/** The key of a log record. */
// hot: every write
export function encodePlace(revision: number, place: number): Buffer {
  if (place === 0) return encodeNumbers(revision);
  const bytes = Buffer.allocUnsafe(NUMBER + PLACE);
  writeNumber(bytes, 0, revision);
  bytes.writeUInt32BE(place, NUMBER);
  return bytes;
}

/** What the key of a log record says. */
export const placeIn = (key: Buffer): { readonly revision: number; readonly place: number } => ({
  revision: numberAt(key, 0),
  place: key.length < NUMBER + PLACE ? 0 : key.readUInt32BE(NUMBER),
});

/** The key of a log record is the one of this change. */
export const isPlace = (key: Buffer, revision: number, place: number): boolean =>
  key.length === (place === 0 ? NUMBER : NUMBER + PLACE) &&
  numberAt(key, 0) === revision &&
  (place === 0 || key.readUInt32BE(NUMBER) === place);

export interface LogPlace {
  readonly revision: number;
  readonly place: number;
  readonly isLast: boolean;
}

/** `name` is the key, encoded. */
// hot: every write
export function encodeLog(
  { revision, place, isLast }: LogPlace,
  name: Buffer,
  { type, atMs, createRevision, previous }: Omit<LogRecord, 'revision' | 'key'>,
): Buffer {
  const head = LOG_HEADER + name.length;
  const more = previous === undefined ? 0 : moreBytes(previous);
  const end = head + (previous === undefined ? 0 : UNCHECKED_HEADER + more + previous.value.length);
  const bytes = Buffer.allocUnsafe(end + CHECKSUM);
  bytes[0] = (type === 'put' ? PUT : DELETE) | (more === 0 ? 0 : EXTENDED_PREVIOUS) | (isLast ? 0 : MORE_FOLLOW);
  bytes.writeUInt16BE(name.length, 1);
  writeNumber(bytes, 3, atMs);
  writeNumber(bytes, 3 + NUMBER, createRevision);
  bytes.set(name, LOG_HEADER);
  if (previous !== undefined) {
    writeNumbers(bytes, head, previous);
    if (more > 0) writeMore(bytes, head + UNCHECKED_HEADER, previous);
    bytes.set(previous.value, head + UNCHECKED_HEADER + more);
  }
  bytes.writeUInt32BE(checksumOf(bytes.subarray(0, end), seedOf(revision, place)), end);
  return bytes;
}

/** The content of a log record without its checksum; undefined when it is not what was written. */
export function checkedLog(
  revision: number,
  place: number,
  bytes: Buffer,
  acceptUnchecked: boolean,
): Buffer | undefined {
  const kind = bytes[0];
  if (bytes.length < LOG_HEADER || bytes.length > MAX_RECORD_BYTES) return undefined;
  if (kind === UNCHECKED_PUT || kind === UNCHECKED_DELETE) return acceptUnchecked ? bytes : undefined;
  const end = bytes.length - CHECKSUM;
  const content = bytes.subarray(0, end);
  return checksumOf(content, seedOf(revision, place)) === bytes.readUInt32BE(end) ? content : undefined;
}

/** `content` has been checked. */
export function decodeLog(revision: number, content: Buffer): LogRecord {
  const numbers = content.subarray(3);
  const keyEnd = LOG_HEADER + content.readUInt16BE(1);
  const kind = (content[0] ?? 0) & KIND;
  return {
    revision,
    type: kind === PUT || kind === UNCHECKED_PUT ? 'put' : 'delete',
    atMs: numberAt(numbers, 0),
    createRevision: numberAt(numbers, 1),
    key: keyOfLog(content),
    previous: keyEnd < content.length ? previousIn(content.subarray(keyEnd), isExtended(content)) : undefined,
  };
}

const isExtended = (content: Buffer): boolean => ((content[0] ?? 0) & EXTENDED_PREVIOUS) !== 0;

/** The change is the last of its revision. */
export const isLastOfRevision = (content: Buffer): boolean => ((content[0] ?? 0) & MORE_FOLLOW) === 0;

export const keyOfLog = (content: Buffer): string =>
  content.toString('latin1', LOG_HEADER, LOG_HEADER + content.readUInt16BE(1));

function previousIn(bytes: Buffer, hasMore: boolean): Version {
  const modRevision = numberAt(bytes, 0);
  const createRevision = numberAt(bytes, 1);
  const more = hasMore ? moreAt(bytes, UNCHECKED_HEADER) : undefined;
  return {
    modRevision,
    createRevision,
    expiresAtMs: numberAt(bytes, 2),
    version: more?.version ?? unwrittenVersion(modRevision, createRevision),
    lease: more?.lease ?? 0n,
    value: bytes.subarray(more?.end ?? UNCHECKED_HEADER),
  };
}

/** Only the revision of the version that a change replaced; 0 where there was none. */
export function replacedRevision(bytes: Buffer): number {
  const keyEnd = LOG_HEADER + bytes.readUInt16BE(1);
  return keyEnd < bytes.length ? readNumber(bytes, keyEnd) : 0;
}

/** Only the time of a log record, for deciding what is old. */
export const logTimeMs = (bytes: Buffer): number => (bytes.length < LOG_HEADER ? 0 : readNumber(bytes, 3));

/** Numbers under a name of the meta table. */
export function encodeChecked(name: Buffer, ...numbers: number[]): Buffer {
  const end = numbers.length * NUMBER;
  const bytes = Buffer.allocUnsafe(end + CHECKSUM);
  writeEach(bytes, numbers);
  bytes.writeUInt32BE(checksumOf(bytes.subarray(0, end), checksumOf(name, 0)), end);
  return bytes;
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
