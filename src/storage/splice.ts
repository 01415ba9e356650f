// Where `metadata.resourceVersion` goes in an object's stored JSON, and putting it there.
//
// Stored bytes carry no resourceVersion (the store's revision is it). Typed objects encode their metadata in the
// declared order, so it comes after the uid; custom resources encode theirs sorted by name, so it comes before.
//
//   {"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","uid":"1","creationTimestamp":…
//                                                                 ^ ,"resourceVersion":"7"

import { memberAt, skipString, skipValue } from './scan-json.js';

interface Splice {
  readonly offset: number;
  readonly commaBefore: boolean;
  readonly commaAfter: boolean;
}

// hot: every write and every loaded object
export function spliceResourceVersion(stored: Buffer, revision: number): Buffer {
  const splice = findSplice(stored);
  const { offset } = splice;
  const member = memberOf(splice, revision);
  // A buffer of its own, not a slice of the shared pool: the cache keeps it, and a slice would keep its whole slab.
  const json = Buffer.allocUnsafeSlow(stored.length + member.length);
  stored.copy(json, 0, 0, offset);
  json.write(member, offset, 'latin1');
  stored.copy(json, offset + member.length, offset);
  return json;
}

/** How many bytes `spliceResourceVersion` makes. */
// hot: every object when a cache is filled
export function splicedLength(stored: Buffer, revision: number): number {
  const { commaBefore, commaAfter } = findSplice(stored);
  return stored.length + BARE_MEMBER_LENGTH + String(revision).length + (commaBefore || commaAfter ? 1 : 0);
}

/** Splices straight to where it is wanted, from an offset of the result on; answers how many bytes. */
// hot: every item of a list that is not in memory
export function copySpliced(
  stored: Buffer,
  revision: number,
  { target, at, from }: { readonly target: Buffer; readonly at: number; readonly from: number },
): number {
  const splice = findSplice(stored);
  const { offset } = splice;
  if (from > offset) return spliceResourceVersion(stored, revision).copy(target, at, from);
  let end = at + stored.copy(target, at, from, offset);
  end += target.write(memberOf(splice, revision), end, 'latin1');
  end += stored.copy(target, end, offset);
  return end - at;
}

const memberOf = ({ commaBefore, commaAfter }: Splice, revision: number): string =>
  `${commaBefore ? ',' : ''}${revisionMember(revision)}${commaAfter ? ',' : ''}`;

const revisionMember = (revision: number): string => `"resourceVersion":"${revision}"`;
const BARE_MEMBER_LENGTH = '"resourceVersion":""'.length;

/** Whether stored bytes, with the revision put in, are these. */
export function encodesTo(
  stored: Buffer,
  { json, revision }: { readonly json: Buffer; readonly revision: number },
): boolean {
  const grown = json.length - stored.length;
  const most = revisionMember(revision).length + 1;
  // Without a comma where the metadata has nothing else.
  if (grown !== most && grown !== most - 1) return false;
  const { offset } = findSplice(stored);
  return (
    json.compare(stored, 0, offset, 0, offset) === 0 &&
    json.compare(stored, offset, stored.length, offset + grown, json.length) === 0
  );
}

/** The same bytes with another revision in place, for the object of a deletion. */
export function replaceResourceVersion(json: Buffer, from: number, to: number): Buffer {
  const before = Buffer.from(revisionMember(from));
  const metadata = enterMetadata(json);
  const at = metadata < 0 ? -1 : json.indexOf(before, metadata);
  if (at < 0) throw new Error('the object has no resourceVersion to replace');
  return Buffer.concat([json.subarray(0, at), Buffer.from(revisionMember(to)), json.subarray(at + before.length)]);
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const METADATA = ['metadata'];

/** Members that precede resourceVersion in the declared order. */
const BEFORE = new Set(['name', 'generateName', 'namespace', 'selfLink', 'uid']);

/** How a typed object begins: these, with a text after each but the last. */
const TYPED_HEAD = ['{"kind":"', '","apiVersion":"', '","metadata":{"'].map((part) => Buffer.from(part));
/** Then these members, in this order as far as they are there; resourceVersion comes right after the last. */
const UP_TO_UID = ['name', 'generateName', 'namespace', 'selfLink', 'uid'].map((name) => Buffer.from(`${name}":"`));
const UID = UP_TO_UID.length - 1;
/** Nearly every object's uid ends before here. */
const HEAD_BYTES = 512;

function findSplice(json: Buffer): Splice {
  const offset = uidEnd(json);
  return offset > 0 ? { offset, commaBefore: true, commaAfter: false } : searchSplice(json);
}

/** Just after the uid of a typed object, byte by byte; -1 when it does not begin as most do. */
// hot: every item of a list that is not in memory
function uidEnd(json: Buffer): number {
  let at = 0;
  for (const part of TYPED_HEAD) {
    if (at > 0) at = quoteFrom(json, at);
    if (at < 0 || !isAt(json, at, part)) return -1;
    at += part.length;
  }
  for (let member = 0; member <= UID; member++) {
    const name = UP_TO_UID[member];
    if (name === undefined || !isAt(json, at, name)) continue;
    const end = quoteFrom(json, at + name.length);
    if (end < 0 || member === UID) return end < 0 ? -1 : end + 1;
    if (json[end + 1] !== COMMA || json[end + 2] !== QUOTE) return -1;
    at = end + 3;
  }
  return -1;
}

/** The end of a text without escapes. */
function quoteFrom(json: Buffer, from: number): number {
  for (let at = from; at < HEAD_BYTES; at++) {
    const byte = json[at];
    if (byte === QUOTE) return at;
    if (byte === BACKSLASH || byte === undefined) return -1;
  }
  return -1;
}

function isAt(json: Buffer, at: number, part: Buffer): boolean {
  for (let index = 0; index < part.length; index++) if (json[at + index] !== part[index]) return false;
  return true;
}

/** Looks at each member of the metadata. */
function searchSplice(json: Buffer): Splice {
  const start = enterMetadata(json);
  if (start < 0) throw new Error('the object has no metadata');
  // Every stored object has a creation time, so names that are sorted do not begin with one of these.
  const sorted = json[start] === QUOTE && !BEFORE.has(nameAt(json, start));
  let at = start;
  while (json[at] === QUOTE) {
    const name = nameAt(json, at);
    const after = sorted ? name > 'resourceVersion' : !BEFORE.has(name);
    if (after) return { offset: at, commaBefore: false, commaAfter: true };
    at = skipValue(json, at + name.length + 3);
    if (json[at] === COMMA) at++;
  }
  return { offset: at, commaBefore: at > start, commaAfter: false };
}

/** The offset just inside the braces of the object's `metadata`, or -1. */
function enterMetadata(json: Buffer): number {
  const value = memberAt(json, METADATA);
  return value >= 0 && json[value] === OPEN_BRACE ? value + 1 : -1;
}

/** The name that starts at a quote, as it is written. */
const nameAt = (json: Buffer, quote: number): string => json.toString('latin1', quote + 1, skipString(json, quote) - 1);
