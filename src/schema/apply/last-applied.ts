// Moving from `kubectl apply` to server-side apply: the annotation that client-side apply left on an object.
import { isPlainObject } from '../../lib/values/plain-object.js';
import { jsonText } from '../../lib/json/stringify.js';
import type { JsonObject } from '../../machinery/object.js';
import type { StructType } from '../type.js';
import { compare } from './compare.js';
import { FieldSet } from './field-set.js';
import { toFieldSet } from './to-field-set.js';
import { validateTyped } from './validate.js';

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';
const MAX_ANNOTATIONS_BYTES = 256 * 1024;
/** The one manager these rules are for. */
export const KUBECTL = 'kubectl';

/**
 * Fields that client-side apply set and nobody changed since: kubectl may own them without a conflict. Undefined when
 * the object has no usable annotation.
 */
export function fieldsFromLastApplied(
  live: Readonly<JsonObject>,
  type: StructType,
  apiVersion: string,
): FieldSet | undefined {
  const text = annotationsOf(live)?.[LAST_APPLIED];
  if (typeof text !== 'string' || text === '') return undefined;
  try {
    const configuration: unknown = JSON.parse(text);
    if (!isPlainObject(configuration) || configuration['apiVersion'] !== apiVersion) return undefined;
    validateTyped(configuration, type);
    const { changed, removed } = compare(configuration, live, type);
    return toFieldSet(configuration, type).difference(changed).difference(removed);
  } catch {
    return undefined;
  }
}

/** Keeps the annotation with the last configuration, as long as the object has it. */
export function updateLastApplied(object: JsonObject, configuration: Readonly<JsonObject>): void {
  const annotations = annotationsOf(object);
  if (annotations === undefined || !annotations[LAST_APPLIED]) return;
  annotations[LAST_APPLIED] = lastAppliedText(configuration);
  let bytes = 0;
  for (const [key, value] of Object.entries(annotations)) bytes += Buffer.byteLength(key + String(value));
  if (bytes > MAX_ANNOTATIONS_BYTES) delete annotations[LAST_APPLIED];
}

function lastAppliedText(configuration: Readonly<JsonObject>): string {
  const annotations = annotationsOf(configuration);
  if (annotations === undefined) return `${sortedJson(configuration)}\n`;
  const { [LAST_APPLIED]: _, ...others } = annotations;
  const metadata = { ...(configuration['metadata'] as JsonObject), annotations: others };
  return `${sortedJson({ ...configuration, metadata })}\n`;
}

function annotationsOf(object: Readonly<JsonObject>): JsonObject | undefined {
  const metadata = object['metadata'];
  const annotations = isPlainObject(metadata) ? metadata['annotations'] : undefined;
  return isPlainObject(annotations) ? annotations : undefined;
}

const ESCAPES: Readonly<Record<string, string>> = {
  '<': '\\u003c',
  '>': '\\u003e',
  '&': '\\u0026',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
};

/** JSON as Go writes it: members sorted, HTML's characters escaped. */
function sortedJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(sortedJson).join(',')}]`;
  if (isPlainObject(value)) {
    const names = Object.keys(value).toSorted();
    return `{${names.map((name) => `${sortedJson(name)}:${sortedJson(value[name])}`).join(',')}}`;
  }
  if (typeof value === 'bigint') return value.toString();
  return jsonText(value).replace(/[<>&\u2028\u2029]/g, (char) => ESCAPES[char] as string);
}
