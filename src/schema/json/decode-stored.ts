// hot: what lies in the store, read back for each write that starts from it.
//
// What an object in normal form is encoded to parses to the same: no walk by its type follows. And a third of a small
// object's JSON is its managed fields, mostly in the same words. These parts are cut out before the rest is parsed, and
// put back as the one tree that all objects with the same words share.
import type { ManagedFieldsEntry } from '../../machinery/object.js';
import { sharedFields } from '../shared-fields.js';
import type { StructType } from '../type.js';
import { decodeJson } from './decode.js';

/** As decodeJson, of bytes that encodeStored() has made of an object. The owned fields in it are not to be changed. */
export function decodeStoredJson(type: StructType, stored: Buffer): Record<string, unknown> {
  const text = stored.toString();
  // Read whole where it has the words of owned fields elsewhere, or is damaged, to say how.
  return withSharedFields(type, text) ?? decodeJson(type, text, { strict: false }).object;
}

function withSharedFields(type: StructType, text: string): Record<string, unknown> | undefined {
  const first = text.indexOf(FIELDS);
  if (first < 0) return undefined;
  try {
    const { rest, sets } = cutFieldSets(text, first);
    const object = parsesAsItIs(type, rest)
      ? (JSON.parse(rest) as Record<string, unknown>)
      : decodeJson(type, rest, { strict: false }).object;
    return putBack(object, sets) ? object : undefined;
  } catch {
    return undefined;
  }
}

const parsesAsItIs = (type: StructType, text: string): boolean =>
  type.unstructured === undefined && !INEXACT.test(text);

/** Numbers that JavaScript would round, and halves of characters. Where that stands in a string, nothing is lost. */
const INEXACT = /[:,[]-?\d{16}|\\u[dD]/;

/** No string has this in it: quotes within strings are escaped. */
const FIELDS = '"fieldsType":"FieldsV1","fieldsV1":{';

/** The text with a number in the place of each set. */
function cutFieldSets(text: string, first: number): { rest: string; sets: Record<string, unknown>[] } {
  const sets: Record<string, unknown>[] = [];
  let rest = '';
  let from = 0;
  for (let at = first; at >= 0; at = text.indexOf(FIELDS, from)) {
    const start = at + FIELDS.length - 1;
    const end = endOfObject(text, start);
    rest += `${text.slice(from, start)}${sets.length}`;
    sets.push(sharedFields(text.slice(start, end)));
    from = end;
  }
  return { rest: rest + text.slice(from), sets };
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Behind the closing brace of the object that opens at `start`. */
function endOfObject(text: string, start: number): number {
  let depth = 0;
  let quoted = false;
  for (let at = start; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === QUOTE) quoted = !quoted;
    else if (quoted) at += char === BACKSLASH ? 1 : 0;
    else if (char === OPEN_BRACE) depth++;
    else if (char === CLOSE_BRACE && --depth === 0) return at + 1;
  }
  throw new Error('a field set does not end');
}

/** False unless each number stands where owned fields do. */
function putBack(object: Record<string, unknown>, sets: readonly Record<string, unknown>[]): boolean {
  const entries = (object['metadata'] as { managedFields?: ManagedFieldsEntry[] } | undefined)?.managedFields;
  if (entries?.length !== sets.length) return false;
  return sets.every((set, position) => {
    const entry = entries[position] as { fieldsV1?: unknown };
    if (entry.fieldsV1 !== position) return false;
    entry.fieldsV1 = set;
    return true;
  });
}
