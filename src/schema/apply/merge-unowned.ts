// A configuration merged into an object without an owner: the server's own policies own no fields.
import { isPlainObject } from '../../lib/values/plain-object.js';
import type { JsonObject } from '../../machinery/object.js';
import type { Field, StructType, Type } from '../type.js';
import { merge } from './merge.js';
import { memberOf, shapeOf, TypedValueError } from './shape.js';
import { validateMade, validateTyped } from './validate.js';

/** Why a configuration could not be merged into an object, in kube-apiserver's words. */
export class MergeUnownedError extends Error {}

/**
 * The object with the configuration over it: plain JSON that shares with both what it does not change. What is one
 * value as a whole may not be named, as all that the configuration does not repeat of it would go. A null that an
 * expression made is a value to kube-apiserver, and of no type. Throws MergeUnownedError.
 */
export function mergeUnowned(
  object: Readonly<JsonObject>,
  configuration: Readonly<JsonObject>,
  type: StructType,
  { makesNull = false }: { readonly makesNull?: boolean } = {},
): unknown {
  const validate = makesNull ? validateMade : validateTyped;
  within('failed to convert patch object to typed object', () => validate(configuration, type));
  const atomics = atomicsIn(configuration, type);
  if (atomics.length > 0) {
    throw new MergeUnownedError(
      `invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ${atomics.join(', ')}`,
    );
  }
  within('failed to convert original object to typed object', () => validateTyped(object, type));
  return within('failed to merge patch', () => merge(object, configuration, type));
}

function within<T>(context: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (error instanceof TypedValueError) throw new MergeUnownedError(`${context}: ${error.message}`);
    throw error;
  }
}

/**
 * The paths of what is one value as a whole. Members without a field of their own in the type, as those of maps, are
 * not looked into.
 */
function atomicsIn(configuration: Readonly<JsonObject>, configurationType: Type): readonly string[] {
  const atomics: string[] = [];
  const visit = (value: unknown, type: Type, field: Field | undefined, path: string): void => {
    const shape = shapeOf(type, field, value);
    if (shape.kind === 'map' && isPlainObject(value)) {
      if (shape.atomic) atomics.push(path);
      for (const name of Object.keys(value)) {
        const member = memberOf(shape, name);
        if (member.type === undefined || member.field === undefined) continue;
        visit(value[name], member.type, member.field, `${path}.${name}`);
      }
    } else if (shape.kind === 'list' && Array.isArray(value)) {
      if (shape.atomic) atomics.push(path);
      for (const [index, item] of value.entries()) visit(item, shape.element, undefined, `${path}[${index}]`);
    }
  };
  visit(configuration, configurationType, undefined, '');
  return atomics;
}
