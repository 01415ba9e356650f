// Whether an applied configuration fits its type, said in the reference's words.
import { goTypeName, goValueText } from '../../lib/go-value.js';
import type { JsonObject } from '../../machinery/object.js';
import type { Field, ScalarName, ScalarType, Type } from '../type.js';
import { elementText } from './path-element.js';
import {
  isDeduced,
  isObject,
  itemElement,
  type ListShape,
  type MapShape,
  memberOf,
  shapeOf,
  TypedValueError,
} from './shape.js';

/** Throws TypedValueError with all that is wrong. */
export function validateTyped(value: unknown, type: Type): void {
  const errors: string[] = [];
  visit(errors, '', value, type, undefined);
  if (errors.length === 1) throw new TypedValueError(errors[0]);
  if (errors.length > 1) throw new TypedValueError(`errors:\n${errors.map((error) => `  ${error}`).join('\n')}`);
}

const say = (errors: string[], path: string, text: string): void => {
  errors.push(path === '' ? text : `${path}: ${text}`);
};

function visit(errors: string[], path: string, value: unknown, type: Type, field: Field | undefined): void {
  if (value === null || isDeduced(type) || (type.kind === 'scalar' && type.scalar === 'rawExtension')) return;
  const shape = shapeOf(type, field, value);
  switch (shape.kind) {
    case 'scalar':
      return visitScalar(errors, path, value, type as ScalarType);
    case 'list':
      if (!Array.isArray(value)) say(errors, path, `expected list, got &{${goValueText(value)}}`);
      else visitItems(errors, path, value, shape);
      return;
    case 'map':
      if (!isObject(value)) say(errors, path, `expected map, got &{${goValueText(value)}}`);
      else visitMembers(errors, path, value, shape);
  }
}

const STRINGS: ReadonlySet<ScalarName> = new Set(['string', 'bytes', 'duration']);
const NUMBERS: ReadonlySet<ScalarName> = new Set(['int32', 'int64', 'double']);

function visitScalar(errors: string[], path: string, value: unknown, { scalar }: ScalarType): void {
  const numeric = typeof value === 'number' || typeof value === 'bigint';
  if (NUMBERS.has(scalar)) {
    if (!numeric) say(errors, path, `expected numeric (int or float), got ${goTypeName(value)}`);
  } else if (STRINGS.has(scalar)) {
    if (typeof value !== 'string') {
      say(errors, path, `expected string, got &value.valueUnstructured{Value:${goValueText(value)}}`);
    }
  } else if (scalar === 'bool') {
    if (typeof value !== 'boolean') say(errors, path, `expected boolean, got &{${goValueText(value)}}`);
  } else if (typeof value === 'object') {
    say(errors, path, `expected any scalar, got &{${goValueText(value)}}`);
  }
}

function visitMembers(errors: string[], path: string, value: JsonObject, shape: MapShape): void {
  for (const name of Object.keys(value)) {
    const { type, field } = memberOf(shape, name);
    if (type === undefined) {
      // The reference looks no further in this struct.
      say(errors, `${path}.${name}`, 'field not declared in schema');
      return;
    }
    visit(errors, `${path}.${name}`, value[name], type, field);
  }
}

function visitItems(errors: string[], path: string, value: readonly unknown[], shape: ListShape): void {
  const seen = new Set<string>();
  for (const [position, item] of value.entries()) {
    if (shape.atomic) {
      visit(errors, `${path}[${position}]`, item, shape.element, undefined);
      continue;
    }
    let element: string;
    try {
      element = itemElement(shape, item);
    } catch (error) {
      if (!(error instanceof TypedValueError)) throw error;
      say(errors, path, `element ${position}: ${error.message}`);
      return;
    }
    const text = elementText(element);
    if (seen.has(element)) say(errors, path, `duplicate entries for key ${text}`);
    seen.add(element);
    visit(errors, path + text, item, shape.element, undefined);
  }
}
