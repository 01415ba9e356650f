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
  /** Items of a list that cannot be distinguished are no fault. */
  readonly mayRepeat?: boolean;
  /** A null has to fit its type; otherwise it fits all. */
  readonly nullIsValue?: boolean;
}

function check(value: unknown, type: Type, rules: Rules): void {
  const { errors } = new Validation(rules).visit(undefined, value, type, undefined);
  if (errors.length === 1) throw new TypedValueError(errors[0]);
  if (errors.length > 1) throw new TypedValueError(`errors:\n${errors.map((error) => `  ${error}`).join('\n')}`);
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

class Validation {
  readonly errors: string[] = [];

  constructor(private readonly rules: Rules) {}

  visit(place: Place | undefined, value: unknown, type: Type, field: Field | undefined): this {
    if (isDeduced(type) || (type.kind === 'scalar' && type.scalar === 'rawExtension')) return this;
    if (value === null && this.rules.nullIsValue !== true) return this;
    const shape = shapeOf(type, field, value);
    switch (shape.kind) {
      case 'scalar':
        this.#visitScalar(place, value, type as ScalarType);
        break;
      case 'list':
        if (!Array.isArray(value)) this.#say(place, `expected list, got &{${valueText(value)}}`);
        else this.#visitItems(place, value, shape);
        break;
      case 'map':
        if (!isPlainObject(value)) this.#say(place, `expected map, got &{${valueText(value)}}`);
        else this.#visitMembers(place, value, shape);
    }
    return this;
  }

  #visitScalar(place: Place | undefined, value: unknown, { scalar }: ScalarType): void {
    if (NUMBERS.has(scalar)) {
      if (typeof value === 'number' || typeof value === 'bigint') return;
      const found = value === null ? 'structpb.NullValue' : goTypeName(value);
      this.#say(place, `expected numeric (int or float), got ${found}`);
    } else if (STRINGS.has(scalar)) {
      if (typeof value === 'string') return;
      const found = value === null ? 0 : goSyntaxText(value);
      this.#say(place, `expected string, got &value.valueUnstructured{Value:${found}}`);
    } else if (scalar === 'bool') {
      if (typeof value !== 'boolean') this.#say(place, `expected boolean, got &{${valueText(value)}}`);
    } else if (typeof value === 'object' && scalar !== 'intOrString') {
      // What is number or text may be anything here: it is refused when it is read.
      this.#say(place, `expected any scalar, got &{${valueText(value)}}`);
    }
  }

  #visitMembers(place: Place | undefined, value: JsonObject, shape: MapShape): void {
    for (const name of Object.keys(value)) {
      if (this.errors.length >= MAX_ERRORS) return;
      const { type, field } = memberOf(shape, name);
      const member: Place = { outer: place, step: name, isMember: true };
      if (type === undefined) {
        // kube-apiserver looks no further in this struct.
        this.#say(member, 'field not declared in schema');
        return;
      }
      this.visit(member, value[name], type, field);
    }
  }

  #visitItems(place: Place | undefined, value: readonly unknown[], shape: ListShape): void {
    const seen = new Set<string>();
    for (const [position, item] of value.entries()) {
      if (this.errors.length >= MAX_ERRORS) return;
      if (shape.atomic) {
        this.visit({ outer: place, step: position, isMember: false }, item, shape.element, undefined);
        continue;
      }
      let element: string;
      try {
        element = itemElement(shape, item);
      } catch (error) {
        if (!(error instanceof TypedValueError)) throw error;
        this.#say(place, `element ${position}: ${error.message}`);
        return;
      }
      if (this.rules.mayRepeat !== true && seen.has(element))
        this.#say(place, `duplicate entries for key ${elementText(element)}`);
      seen.add(element);
      this.visit({ outer: place, step: element, isMember: false }, item, shape.element, undefined);
    }
  }

  #say(place: Place | undefined, text: string): void {
    this.errors.push(place === undefined ? text : `${placeText(place)}: ${text}`);
  }
}

const valueText = (value: unknown): string => (value === null ? 'NULL_VALUE' : goValueText(value));

const STRINGS: ReadonlySet<ScalarName> = new Set(['string', 'bytes', 'duration']);
const NUMBERS: ReadonlySet<ScalarName> = new Set(['int32', 'int64', 'double']);
