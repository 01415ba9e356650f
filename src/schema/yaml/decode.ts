// An object that was sent as YAML. kube-apiserver makes JSON of it first, with the members of each object in order, and
// reports errors in that order.
import { isPlainObject, setMember } from '../../lib/values/plain-object.js';
import { DecodeError, type Decoded, decodeTree } from '../json/decode.js';
import { type SentKind, sentKind } from '../json/sent-kind.js';
import type { StructType } from '../type.js';
import { type ParsedYaml, parseYaml } from './parse.js';

/** `parsed` is used up. */
export function decodeYaml(
  type: StructType,
  bytes: Uint8Array,
  strict: boolean,
  parsed: ParsedYaml = parseYaml(bytes),
): Decoded {
  const { value, strictError } = parsed;
  const sent = type.unstructured === undefined ? sentYamlKind(value) : {};
  const { object, strictErrors } = decodeInOrder(type, value, bytes, strict);
  Object.assign(object, sent);
  return { object, strictErrors: strict && strictError !== undefined ? [strictError, ...strictErrors] : strictErrors };
}

/** The order matters only where something is wrong, and so does not cost anything elsewhere. */
function decodeInOrder(type: StructType, value: unknown, bytes: Uint8Array, strict: boolean): Decoded {
  const ordered = (): Decoded => decodeTree(type, inOrder(parseYaml(bytes).value), { strict });
  try {
    const decoded = decodeTree(type, value, { strict });
    return decoded.strictErrors.length > 1 ? ordered() : decoded;
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    return ordered();
  }
}

/** What it says it is, of which the last in that order counts. */
export const sentYamlKind = (value: unknown): SentKind =>
  sentKind(isPlainObject(value) ? Object.fromEntries(Object.entries(value).sort(byName)) : value);

const byName = ([a]: [string, unknown], [b]: [string, unknown]): number => (a < b ? -1 : 1);

function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (!isPlainObject(value)) return value;
  const object: Record<string, unknown> = {};
  for (const name of Object.keys(value).sort()) setMember(object, name, inOrder(value[name]));
  return object;
}
