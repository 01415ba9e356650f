// Whether an applied configuration fits its type, said in kube-apiserver's words.
import { isPlainObject } from '../../lib/values/plain-object.js';
import { goSyntaxText, goTypeName, goValueText } from '../../lib/go/value.js';
import type { JsonObject } from '../../machinery/object.js';
import type { Field, ScalarName, ScalarType, Type } from '../type.js';
import { elementText } from './path-element.js';
import { isDeduced, itemElement, type ListShape, type MapShape, memberOf, shapeOf, TypedValueError } from './shape.js';

/** Nobody reads more: a large configuration may have a hundred thousand. */
const MAX_ERRORS = 10_000;

/** Throws TypedValueError with all that is wrong. */
export const validateTyped = (value: unknown, type: Type): void => check(value, type, {});

/** Validates what an expression made, whose nulls are values that fit nowhere. */
export const validateMade = (value: unknown, type: Type): void => check(value, type, { nullIsValue: true });

/** Validates an object as it is: an item that is there twice is no fault of whom changes something else. */
export const validateTypedObject = (value: unknown, type: Type): void => check(value, type, { mayRepeat: true });

interface Rules {
  readonly mayRepeat?: boolean;
  readonly nullIsValue?: boolean;
}

function check(value: unknown, type: Type, { mayRepeat = false, nullIsValue = false }: Rules): void {
  const errors: Errors = Object.assign([], { mayRepeat, nullIsValue });
  visit(errors, undefined, value, type, undefined);
  if (errors.length === 1) throw new TypedValueError(errors[0]);
  if (errors.length > 1) throw new TypedValueError(`errors:\n${errors.map((error) => `  ${error}`).join('\n')}`);
}

interface Errors extends Array<string> {
  readonly mayRepeat: boolean;
  readonly nullIsValue: boolean;
}

/** Where a value is. It becomes text only for an error. */
interface Place {
  readonly outer: Place | undefined;
  /** The name of a member, the position of an item, or the step to it. */
  readonly step: string | number;
  readonly isMember: boolean;
}

function placeText({ outer, step, isMember }: Place): string {
  const own = isMember ? `.${step}` : typeof step === 'number' ? `[${step}]` : elementText(step);
  return outer === undefined ? own : placeText(outer) + own;
}

const say = (errors: Errors, place: Place | undefined, text: string): void => {
  errors.push(place === undefined ? text : `${placeText(place)}: ${text}`);
};

function visit(errors: Errors, place: Place | undefined, value: unknown, type: Type, field: Field | undefined): void {
  if (isDeduced(type) || (type.kind === 'scalar' && type.scalar === 'rawExtension')) return;
  if (value === null && !errors.nullIsValue) return;
  const shape = shapeOf(type, field, value);
  switch (shape.kind) {
    case 'scalar':
      return visitScalar(errors, place, value, type as ScalarType);
    case 'list':
      if (!Array.isArray(value)) say(errors, place, `expected list, got &{${valueText(value)}}`);
      else visitItems(errors, place, value, shape);
      return;
    case 'map':
      if (!isPlainObject(value)) say(errors, place, `expected map, got &{${valueText(value)}}`);
      else visitMembers(errors, place, value, shape);
  }
}

const valueText = (value: unknown): string => (value === null ? 'NULL_VALUE' : goValueText(value));

const STRINGS: ReadonlySet<ScalarName> = new Set(['string', 'bytes', 'duration']);
const NUMBERS: ReadonlySet<ScalarName> = new Set(['int32', 'int64', 'double']);

function visitScalar(errors: Errors, place: Place | undefined, value: unknown, { scalar }: ScalarType): void {
  const numeric = typeof value === 'number' || typeof value === 'bigint';
  if (NUMBERS.has(scalar)) {
    if (!numeric)
      say(
        errors,
        place,
        `expected numeric (int or float), got ${value === null ? 'structpb.NullValue' : goTypeName(value)}`,
      );
  } else if (STRINGS.has(scalar)) {
    if (typeof value !== 'string') {
      say(
        errors,
        place,
        `expected string, got &value.valueUnstructured{Value:${value === null ? 0 : goSyntaxText(value)}}`,
      );
    }
  } else if (scalar === 'bool') {
    if (typeof value !== 'boolean') say(errors, place, `expected boolean, got &{${valueText(value)}}`);
  } else if (typeof value === 'object' && scalar !== 'intOrString') {
    // What is number or text may be anything here: it is refused when it is read.
    say(errors, place, `expected any scalar, got &{${valueText(value)}}`);
  }
}

function visitMembers(errors: Errors, place: Place | undefined, value: JsonObject, shape: MapShape): void {
  for (const name of Object.keys(value)) {
    if (errors.length >= MAX_ERRORS) return;
    const { type, field } = memberOf(shape, name);
    const member: Place = { outer: place, step: name, isMember: true };
    if (type === undefined) {
      // kube-apiserver looks no further in this struct.
      say(errors, member, 'field not declared in schema');
      return;
    }
    visit(errors, member, value[name], type, field);
  }
}

function visitItems(errors: Errors, place: Place | undefined, value: readonly unknown[], shape: ListShape): void {
  const seen = new Set<string>();
  for (const [position, item] of value.entries()) {
    if (errors.length >= MAX_ERRORS) return;
    if (shape.atomic) {
      visit(errors, { outer: place, step: position, isMember: false }, item, shape.element, undefined);
      continue;
    }
    let element: string;
    try {
      element = itemElement(shape, item);
    } catch (error) {
      if (!(error instanceof TypedValueError)) throw error;
      say(errors, place, `element ${position}: ${error.message}`);
      return;
    }
    if (!errors.mayRepeat && seen.has(element)) say(errors, place, `duplicate entries for key ${elementText(element)}`);
    seen.add(element);
    visit(errors, { outer: place, step: element, isMember: false }, item, shape.element, undefined);
  }
}
