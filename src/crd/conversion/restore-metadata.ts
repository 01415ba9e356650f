// Of an object's metadata a conversion webhook may change labels and annotations only.
import { goTypeName } from '../../lib/go/value.js';
import { isPlainObject, ownMember } from '../../lib/values/plain-object.js';
import { aggregateText, FieldPath, type FieldErrors, fieldErrorText } from '../../machinery/field-error.js';
import type { JsonObject } from '../../machinery/object.js';
import { validateAnnotations } from '../../machinery/validation/object-meta.js';
import { validateLabels } from '../../machinery/validation/label-selector.js';

type Restored = { readonly metadata: JsonObject } | { readonly fault: string };

/** The metadata as sent with the labels and annotations of what came back, or what is wrong with those. */
export function restoreMetadata(original: unknown, converted: Readonly<JsonObject>): Restored {
  const before = isPlainObject(original) ? original : {};
  const stated = converted['metadata'];
  const after = isPlainObject(stated) ? stated : {};
  for (const [member, name] of SAME) {
    const [was, is] = [textOf(before[member]), textOf(after[member])];
    if (was !== is) return { fault: `invalid object: must have the same ${name}: ${was} != ${is}` };
  }
  if (stated === undefined) return { fault: 'invalid metadata: missing metadata in converted object' };
  if (!isPlainObject(stated)) {
    return { fault: `invalid metadata: invalid metadata of type ${goTypeName(stated)} in converted object` };
  }
  const metadata = { ...before } as JsonObject;
  for (const member of ['labels', 'annotations'] as const) {
    const received = after[member];
    if (received === undefined || received === null) {
      delete metadata[member];
      continue;
    }
    const fault = textsFault(member, before[member], received);
    if (fault !== undefined) return { fault: `invalid metadata: ${fault}` };
    metadata[member] = received;
  }
  return { metadata };
}

const SAME = [
  ['name', 'name'],
  ['namespace', 'namespace'],
  ['uid', 'UID'],
] as const;

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Those that stay as they were are not looked at: rules may have become stricter since. */
function textsFault(member: 'labels' | 'annotations', before: unknown, received: unknown): string | undefined {
  if (!isPlainObject(received)) return `invalid metadata.${member} of type ${goTypeName(received)} in converted object`;
  const old = isPlainObject(before) ? before : {};
  let changed = Object.keys(old).length !== Object.keys(received).length;
  for (const [key, value] of Object.entries(received)) {
    if (typeof value !== 'string') {
      return `metadata.${member}[${key}] must be a string, but is ${goTypeName(value)} in converted object`;
    }
    if (ownMember(old, key) !== value) changed = true;
  }
  if (!changed) return undefined;
  const texts = received as Record<string, string>;
  const errors: FieldErrors =
    member === 'labels'
      ? validateLabels(texts, FieldPath.of('metadata', 'labels'))
      : // kube-apiserver's text lacks a character here.
        validateAnnotations(texts, FieldPath.of('metadata', 'annotation'));
  return errors.length === 0 ? undefined : aggregateText(errors.map(fieldErrorText));
}
