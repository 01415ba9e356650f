// Where `metadata.resourceVersion` goes in an object's stored JSON, and putting it there.
//
// Stored bytes carry no resourceVersion (the store's revision is it). Typed objects print their metadata in the
// declared order, so it comes after the uid; custom resources print theirs sorted by name, so it comes before.
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

/** The same straight to where it is wanted, from an offset of the result on; answers how many bytes. */
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

/** Whether stored bytes, with the revision put in, are these. */
export function printsAs(
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
const OPEN_BRACE = 0x7b;
const METADATA = ['metadata'];

/** Members printed before resourceVersion in the declared order. */
const BEFORE = new Set(['name', 'generateName', 'namespace', 'selfLink', 'uid']);

/** How a typed object begins, up to its metadata; and that up to its uid, which resourceVersion comes right after. */
const TYPED_HEAD = /^\{"kind":"[^"\\]*","apiVersion":"[^"\\]*","metadata":\{/;
const UP_TO_UID = /(?:"(?:name|generateName|namespace|selfLink)":"[^"\\]*",)*"uid":"[^"\\]*"/y;
/** Nearly every object's uid ends before here. */
const HEAD_BYTES = 512;

function findSplice(json: Buffer): Splice {
  // One letter for each byte, whatever they spell.
  const head = json.toString('latin1', 0, HEAD_BYTES);
  UP_TO_UID.lastIndex = TYPED_HEAD.exec(head)?.[0].length ?? 0;
  if (UP_TO_UID.lastIndex > 0 && UP_TO_UID.test(head)) {
    return { offset: UP_TO_UID.lastIndex, commaBefore: true, commaAfter: false };
  }
  return searchSplice(json);
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
