// Most of what comes as YAML is JSON: clients that apply send it so. It means the same to both readers, but for a few
// things that YAML reads in its own way or refuses; the reader of JSON is twenty times as fast.
import { isPlainObject } from '../../lib/values/plain-object.js';
import { parseJsonTree } from '../json/decode.js';
import { DecodeError } from '../json/walk.js';

/** The tree, when the text is an object in JSON and there is nothing in it that YAML could read otherwise. */
export function parsePlainJson(source: string): unknown {
  if (!source.startsWith('{') || READ_OTHERWISE.test(source)) return undefined;
  try {
    const { value, duplicates } = parseJsonTree(Buffer.from(source));
    return duplicates.length === 0 && hasPlainNumbers(value) ? value : undefined;
  } catch (error) {
    // YAML says what is wrong in words of its own.
    if (error instanceof DecodeError) return undefined;
    throw error;
  }
}

/** Tabs, characters that do not print, halves of surrogate pairs, escaped slashes, and the key that merges. */
const READ_OTHERWISE = /[\t\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]|\\u[dD]|\\\/|"<<"/;

/** Numbers that may be written in several ways are left to the rules of YAML. */
function hasPlainNumbers(value: unknown): boolean {
  if (typeof value === 'number') return Number.isSafeInteger(value) && !Object.is(value, -0);
  if (typeof value === 'bigint') return false;
  if (Array.isArray(value)) return value.every(hasPlainNumbers);
  if (!isPlainObject(value)) return true;
  for (const name in value) if (!hasPlainNumbers(value[name])) return false;
  return true;
}
