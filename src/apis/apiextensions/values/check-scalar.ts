// The rules that look at one value alone: its type, the values it may have, and those of texts and numbers.
import { isDeepStrictEqual } from 'node:util';
import { goFloatText } from '../../../lib/go/float.js';
import { goValueText } from '../../../lib/go/value.js';
import { isKnownFormat } from '../../../machinery/validation/string-formats.js';
import type { JSONSchemaProps } from '../../../schema/generated/apiextensions.v1.js';
import { encodeTree } from '../../../schema/json/encode.js';
import { failed, merge, other, type Outcome, wrongType } from './outcome.js';
import { compilePattern } from './pattern.js';
import { sorted } from './shown-json.js';

/** What a schema says of the type of its values. */
export interface StatedType {
  /** None: any. */
  readonly types: readonly string[];
  /** Empty where there is none that means something. */
  readonly format: string;
  readonly nullable: boolean;
}

/** `isDefault`: the value is a default, for which int-or-string is no type, and every format means something. */
export function statedType(schema: Readonly<JSONSchemaProps>, isDefault: boolean): StatedType {
  const { type, format = '', nullable = false } = schema;
  const isIntOrString = schema['x-kubernetes-int-or-string'] === true && !isDefault;
  return {
    types: isIntOrString ? ['integer', 'string'] : type ? [type] : [],
    format: isDefault || isKnownFormat(format) ? format : '',
    nullable,
  };
}

export function checkType(value: unknown, { types, format, nullable }: StatedType, name: string): Outcome {
  const passed: Outcome = { failures: [], matches: 1 };
  if (value === null || value === undefined) {
    return types.length > 0 && !nullable ? failed(wrongType(name, types.join(','), 'null')) : passed;
  }
  const found = typeNameOf(value);
  const isText = typeof value === 'string' || Array.isArray(value);
  const fits = types.includes(found) || (found === 'integer' && types.includes('number'));
  if (!isText && format !== '' && !fits && format !== formatNameOf(value)) {
    return failed(wrongType(name, format, formatNameOf(value)));
  }
  const numeric = types.includes('number') || types.includes('integer');
  if (!numeric && format !== '' && isText) return passed;
  return fits ? passed : failed(wrongType(name, types.join(','), found));
}

function typeNameOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'boolean':
      return 'boolean';
    case 'bigint':
      return 'integer';
    case 'number':
      // Whole numbers beyond that are bigints, unless they were written as others.
      return Number.isSafeInteger(value) ? 'integer' : 'number';
    default:
      return 'object';
  }
}

function formatNameOf(value: unknown): string {
  if (typeof value === 'bigint') return 'int64';
  if (typeof value === 'number') return Number.isSafeInteger(value) ? 'int64' : 'float64';
  return '';
}

export function checkEnum(value: unknown, schema: Readonly<JSONSchemaProps>, name: string): Outcome | undefined {
  const allowed = schema.enum ?? [];
  if (allowed.length === 0 || isAllowed(allowed, value)) return undefined;
  const message = `${name} in body should be one of ${goValueText(allowed)}`;
  return failed({ code: 'enum', name, value, allowed, message });
}

function isAllowed(allowed: readonly unknown[], given: unknown): boolean {
  // kube-apiserver knows no null among the values: one that is listed, and nullable, is refused all the same.
  if (given === null) return false;
  // kube-apiserver compares a number as one of the values' type: of a fraction its whole part.
  if (typeof given === 'number' && !Number.isInteger(given) && isAllowed(allowed, Math.trunc(given))) return true;
  return isAmong(allowed, given);
}

/** Of long lists the texts and numbers are looked up; the list of a schema is always the same one. */
function isAmong(allowed: readonly unknown[], value: unknown): boolean {
  if (allowed.length < LONG_ENUM) return allowed.some((member) => isDeepStrictEqual(member, value));
  let known = enumSets.get(allowed);
  if (known === undefined) {
    known = new Set(allowed.map(canonicalText));
    enumSets.set(allowed, known);
  }
  return known.has(canonicalText(value));
}

const LONG_ENUM = 16;
const enumSets = new WeakMap<readonly unknown[], ReadonlySet<string>>();

/** The same text for the same value. */
export const canonicalText = (value: unknown): string => encodeTree(sorted(value));

export function checkString(text: string, schema: Readonly<JSONSchemaProps>, name: string): Outcome | undefined {
  const { maxLength, minLength, pattern } = schema;
  const length = maxLength === undefined && minLength === undefined ? 0 : Array.from(text).length;
  if (maxLength !== undefined && length > maxLength) {
    const message = `${name} in body should be at most ${maxLength} chars long`;
    return failed({ code: 'too-long', name, value: text, limit: maxLength, message });
  }
  if (minLength !== undefined && length < minLength) {
    return failed(other(name, text, `should be at least ${minLength} chars long`));
  }
  if (!pattern) return undefined;
  const compiled = compilePattern(pattern);
  if ('error' in compiled) {
    return failed(other(name, text, `should match '${pattern}, but pattern is invalid: ${compiled.error}'`));
  }
  return compiled.matches(text) ? undefined : failed(other(name, text, `should match '${pattern}'`));
}

export function checkNumber(
  value: number | bigint,
  isFloat: boolean,
  schema: Readonly<JSONSchemaProps>,
  name: string,
): Outcome {
  const outcome: Outcome = { failures: [], matches: 1 };
  const { multipleOf, minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema;
  // An integer is compared with the bound's whole part, as kube-apiserver keeps integers apart.
  const whole = !isFloat && (typeof value === 'bigint' || Number.isSafeInteger(value));
  const bound = (limit: number): number => (whole ? int64Of(limit) : limit);
  if (multipleOf !== undefined) {
    // What is left of a factor below one is none.
    merge(outcome, checkMultiple(value, bound(multipleOf), whole, name));
  }
  if (minimum !== undefined) {
    const limit = bound(minimum);
    if (value < limit || (exclusiveMinimum && isSame(value, limit))) {
      const rule = `should be greater than ${exclusiveMinimum ? '' : 'or equal to '}${numberText(limit, whole)}`;
      merge(outcome, failed(other(name, value, rule)));
    }
  }
  if (maximum !== undefined) {
    const limit = bound(maximum);
    if (value > limit || (exclusiveMaximum && isSame(value, limit))) {
      const rule = `should be less than ${exclusiveMaximum ? '' : 'or equal to '}${numberText(limit, whole)}`;
      merge(outcome, failed(other(name, value, rule)));
    }
  }
  return outcome;
}

const isSame = (value: number | bigint, limit: number): boolean => !(value < limit || value > limit);

function checkMultiple(value: number | bigint, factor: number, whole: boolean, name: string): Outcome | undefined {
  if (factor <= 0) {
    const message = `factor MultipleOf declared for ${name} must be positive: ${numberText(factor, whole)}`;
    return failed({ code: 'other', name, value: whole ? BigInt(factor) : factor, message });
  }
  const fits = whole ? BigInt(value) % BigInt(factor) === 0n : isNearMultiple(Number(value), factor);
  return fits ? undefined : failed(other(name, value, `should be a multiple of ${numberText(factor, whole)}`));
}

function isNearMultiple(value: number, factor: number): boolean {
  const quotient = factor < 1 ? (1 / factor) * value : value / factor;
  return (
    Math.abs(quotient) <= Number.MAX_SAFE_INTEGER &&
    Math.abs(quotient - Math.round(quotient)) < 1e-9 * Math.max(1, Math.abs(quotient))
  );
}

const LEAST_INT64 = -(2 ** 63);

/** What is too large or too small becomes the least of all, as kube-apiserver's processors have it. */
const int64Of = (value: number): number => (Math.abs(value) < 2 ** 63 ? Math.trunc(value) : LEAST_INT64);

const numberText = (value: number, whole: boolean): string => (whole ? String(BigInt(value)) : goFloatText(value));
