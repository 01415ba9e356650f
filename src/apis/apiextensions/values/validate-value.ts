// Does a JSON value fit a schema? Used for defaults in definitions, and for every custom resource.
import { isDeepStrictEqual } from 'node:util';
import { goQuote } from '../../../lib/go-quote.js';
import { goValueText } from '../../../lib/go-value.js';
import { isPlainObject } from '../../../lib/plain-object.js';
import {
  type FieldError,
  type FieldErrors,
  FieldPath,
  invalid,
  notSupported,
  required,
  tooLong,
  tooMany,
  typeInvalid,
} from '../../../machinery/field-error.js';
import type { JSONSchemaProps } from '../../../schema/generated/apiextensions.v1.js';
import { timeout } from '../../../machinery/status.js';
import { compilePattern } from './pattern.js';
import { SameJson } from './same-json.js';
import { encodeTree } from '../../../schema/json/encode.js';
import { shownJson, sorted } from './shown-json.js';
import { isKnownFormat, matchesFormat } from '../../../machinery/validation/string-formats.js';

/**
 * `path` is where the value stands; undefined at the root of an object. `old` is what an update replaces: what was wrong
 * before and is still the same may stay.
 */
export function validateValue(
  value: unknown,
  schema: Readonly<JSONSchemaProps>,
  path: FieldPath | undefined,
  old?: Old,
  trials = new Trials(),
): FieldErrors {
  const run = { trials, compared: new SameJson() };
  return check(value, schema, '', old, run).failures.map((failure) => fieldErrorOf(failure, path));
}

/** The value before an update, where there is one to compare with. */
export interface Old {
  readonly value: unknown;
}

/**
 * Each value is tried with each alternative of its schema, and both may be many. The reference has no bound but the time
 * of the request, in which it does not come so far.
 */
const MOST_ALTERNATIVES = 20_000_000;

/** What is bounded is all of a write together. */
export class Trials {
  #left = MOST_ALTERNATIVES;

  take(): void {
    if (--this.#left < 0) throw timeout('the object was tried with too many alternatives of its schema');
  }
}

/** What one validation of a value has for all that is inside. */
interface Run {
  readonly trials: Trials;
  readonly compared: SameJson;
}

type Code = 'required' | 'enum' | 'too-long' | 'max-items' | 'max-properties' | 'type' | 'other' | 'composite';

interface Failure {
  readonly code: Code;
  /** Where, from the value's root: `spec.size`. */
  readonly name: string;
  readonly message: string;
  readonly value?: unknown;
  readonly limit?: number;
  readonly allowed?: readonly unknown[];
}

/** What a check found. Of several alternatives that fail, the one that matched most is told. */
interface Outcome {
  failures: Failure[];
  matches: number;
  /** Of the failures' messages; made when there are two. */
  told?: Set<string>;
}

type Check = (
  value: unknown,
  schema: Readonly<JSONSchemaProps>,
  name: string,
  old: Old | undefined,
  run: Run,
) => Outcome;

const check: Check = (value, schema, name, old, run) => {
  const outcome = checkAll(value, schema, name, old, run);
  const unchanged = outcome.failures.length > 0 && old !== undefined && run.compared.are(value, old.value);
  return unchanged ? { failures: [], matches: outcome.matches } : outcome;
};

/** One of the alternatives that a value is tried with. */
const tried: Check = (value, alternative, name, old, run) => {
  run.trials.take();
  return checkAll(value, alternative, name, old, run);
};

function checkAll(
  value: unknown,
  schema: Readonly<JSONSchemaProps>,
  name: string,
  old: Old | undefined,
  run: Run,
): Outcome {
  const outcome: Outcome = { failures: [], matches: 0 };
  const types = typesOf(schema);
  if (value === null || value === undefined) {
    merge(outcome, checkType(value, types, schema, name));
    merge(outcome, checkEnum(value, schema, name));
    return outcome;
  }
  if (types.length > 0 || schema.format) {
    merge(outcome, checkType(value, types, schema, name));
    outcome.matches += 1;
  }
  merge(outcome, checkCombinations(value, schema, name, old, run));
  outcome.matches += 1;
  if (typeof value === 'string') {
    merge(outcome, checkString(value, schema, name));
    outcome.matches += 1;
    if (schema.format) {
      const matches = matchesFormat(schema.format, value);
      if (matches === false) merge(outcome, { failures: [wrongType(name, schema.format, value)], matches: 0 });
      if (matches !== undefined) outcome.matches += 1;
    }
  } else if (typeof value === 'number' || typeof value === 'bigint') {
    merge(outcome, checkNumber(Number(value), value, schema, name));
    outcome.matches += 1;
  } else if (Array.isArray(value)) {
    merge(outcome, checkList(value, schema, name, old, run));
    outcome.matches += 1;
  }
  merge(outcome, checkEnum(value, schema, name));
  outcome.matches += 1;
  if (isPlainObject(value)) {
    merge(outcome, checkObject(value, schema, name, old, run));
    outcome.matches += 1;
  }
  outcome.matches += 1;
  return outcome;
}

/** More than anybody is told of. */
const MOST_FAILURES = 20_000;

function merge(into: Outcome, from: Outcome | undefined): void {
  if (from === undefined) return;
  into.matches += from.matches;
  if (from.failures.length === 0) return;
  if (into.failures.length === 0) {
    // What failed deep inside is handed up through all that is around it: not one by one each time.
    into.failures = from.failures;
    if (from.told !== undefined) into.told = from.told;
    return;
  }
  const told = (into.told ??= new Set(into.failures.map(({ message }) => message)));
  for (const failure of from.failures) {
    if (into.failures.length >= MOST_FAILURES) return;
    if (told.has(failure.message)) continue;
    told.add(failure.message);
    into.failures.push(failure);
  }
}

const failed = (failure: Failure): Outcome => ({ failures: [failure], matches: 0 });
const other = (name: string, value: unknown, rule: string): Failure => ({
  code: 'other',
  name,
  value,
  message: `${name} in body ${rule}`,
});
const wrongType = (name: string, wanted: string, found: string): Failure => ({
  code: 'type',
  name,
  value: found,
  message: `${name} in body must be of type ${wanted}: ${goQuote(found)}`,
});

const typesOf = (schema: Readonly<JSONSchemaProps>): readonly string[] => {
  if (schema['x-kubernetes-int-or-string']) return ['integer', 'string'];
  return schema.type ? [schema.type] : [];
};

function checkType(
  value: unknown,
  types: readonly string[],
  { nullable, format: stated = '' }: Readonly<JSONSchemaProps>,
  name: string,
): Outcome {
  // Formats of numbers mean nothing here.
  const format = isKnownFormat(stated) ? stated : '';
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
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  return '';
}

function checkEnum(value: unknown, schema: Readonly<JSONSchemaProps>, name: string): Outcome | undefined {
  const allowed = schema.enum ?? [];
  if (allowed.length === 0 || isAllowed(allowed, value)) return undefined;
  const message = `${name} in body should be one of ${goValueText(allowed)}`;
  return failed({ code: 'enum', name, value, allowed, message });
}

/** Of long lists the texts and numbers are looked up; the list of a schema is always the same one. */
function isAllowed(allowed: readonly unknown[], value: unknown): boolean {
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
const canonicalText = (value: unknown): string => encodeTree(sorted(value));

function checkString(text: string, schema: Readonly<JSONSchemaProps>, name: string): Outcome | undefined {
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

function checkNumber(value: number, shown: unknown, schema: Readonly<JSONSchemaProps>, name: string): Outcome {
  const outcome: Outcome = { failures: [], matches: 1 };
  const { multipleOf, minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema;
  // An integer is compared with the bound's whole part, as the reference keeps integers apart.
  const whole = Number.isInteger(value);
  const bound = (limit: number): number => (whole ? Math.trunc(limit) : limit);
  if (multipleOf !== undefined) merge(outcome, checkMultiple(value, shown, multipleOf, name));
  if (minimum !== undefined) {
    const limit = bound(minimum);
    if (value < limit || (exclusiveMinimum && value === limit)) {
      const rule = `should be greater than ${exclusiveMinimum ? '' : 'or equal to '}${numberText(limit, whole)}`;
      merge(outcome, failed(other(name, shown, rule)));
    }
  }
  if (maximum !== undefined) {
    const limit = bound(maximum);
    if (value > limit || (exclusiveMaximum && value === limit)) {
      const rule = `should be less than ${exclusiveMaximum ? '' : 'or equal to '}${numberText(limit, whole)}`;
      merge(outcome, failed(other(name, shown, rule)));
    }
  }
  return outcome;
}

function checkMultiple(value: number, shown: unknown, factor: number, name: string): Outcome | undefined {
  const whole = Number.isInteger(value) && Number.isInteger(factor);
  if (factor <= 0) {
    const message = `factor MultipleOf declared for ${name} must be positive: ${numberText(factor, whole)}`;
    return failed({ code: 'other', name, value: factor, message });
  }
  const quotient = factor < 1 ? (1 / factor) * value : value / factor;
  const near = Math.abs(quotient - Math.round(quotient)) < 1e-9 * Math.max(1, Math.abs(quotient));
  const fits = whole ? value % factor === 0 : near;
  return fits ? undefined : failed(other(name, shown, `should be a multiple of ${numberText(factor, whole)}`));
}

/** A float as Go prints it shortly: from a million on with an exponent. */
function numberText(value: number, whole: boolean): string {
  if (whole) return String(value);
  const exponent = value === 0 ? 0 : Math.floor(Math.log10(Math.abs(value)));
  if (exponent >= -4 && exponent < 6) return String(value);
  const [digits = '', power = ''] = value.toExponential().split('e');
  return `${digits}e${power.charAt(0)}${power.slice(1).padStart(2, '0')}`;
}

function checkList(
  items: readonly unknown[],
  schema: Readonly<JSONSchemaProps>,
  name: string,
  old: Old | undefined,
  run: Run,
): Outcome {
  const outcome: Outcome = { failures: [], matches: 1 };
  const { items: itemSchema, minItems, maxItems } = schema;
  if (itemSchema !== undefined && !Array.isArray(itemSchema)) {
    const before = oldItems(schema, old);
    for (const [i, item] of items.entries())
      merge(outcome, check(item, itemSchema, `${name}[${i}]`, before(item), run));
  }
  const size = items.length;
  if (minItems !== undefined && size < minItems) {
    merge(outcome, failed(other(name, size, `should have at least ${minItems} items`)));
  }
  if (maxItems !== undefined && size > maxItems) {
    const message = `${name} in body should have at most ${maxItems} items`;
    merge(outcome, failed({ code: 'max-items', name, value: size, limit: maxItems, message }));
  }
  if (schema.uniqueItems && new Set(items.map(canonicalText)).size < size) {
    merge(outcome, failed(other(name, undefined, "shouldn't contain duplicates")));
  }
  return outcome;
}

/** Items are told apart by their keys; those of lists without keys have no former value. */
function oldItems(schema: Readonly<JSONSchemaProps>, old: Old | undefined): (item: unknown) => Old | undefined {
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const list: readonly unknown[] = Array.isArray(old?.value) ? old.value : [];
  if (schema['x-kubernetes-list-type'] !== 'map' || list.length === 0) return () => undefined;
  const identity = (item: unknown): string | undefined =>
    isPlainObject(item) ? canonicalText(keys.map((key) => (Object.hasOwn(item, key) ? [item[key]] : []))) : undefined;
  const former = new Map<string | undefined, Old>();
  for (const value of list) {
    const key = identity(value);
    if (key !== undefined && !former.has(key)) former.set(key, { value });
  }
  return (item) => former.get(identity(item));
}

const META_FIELDS = new Set(['apiVersion', 'kind', 'metadata']);

/** A member's former value. What every resource has at its root is always looked at. */
function oldMember(old: Old | undefined, name: string, key: string): Old | undefined {
  if (old === undefined || !isPlainObject(old.value) || !Object.hasOwn(old.value, key)) return undefined;
  return name === '' && META_FIELDS.has(key) ? undefined : { value: old.value[key] };
}

function checkObject(
  object: Readonly<Record<string, unknown>>,
  schema: Readonly<JSONSchemaProps>,
  name: string,
  old: Old | undefined,
  run: Run,
): Outcome {
  const outcome: Outcome = { failures: [], matches: 0 };
  const { minProperties, maxProperties, properties = {}, additionalProperties } = schema;
  const keys = Object.keys(object).sort();
  const size = keys.length;
  if (minProperties !== undefined && size < minProperties) {
    merge(outcome, failed(other(name, size, `should have at least ${minProperties} properties`)));
  }
  if (maxProperties !== undefined && size > maxProperties) {
    const message = `${name} in body should have at most ${maxProperties} properties`;
    merge(outcome, failed({ code: 'max-properties', name, value: size, limit: maxProperties, message }));
  }
  for (const key of keys) {
    if (Object.hasOwn(properties, key)) continue;
    if (additionalProperties === false) {
      const message = `${name}.${key} in body is a forbidden property`;
      merge(outcome, failed({ code: 'other', name, value: key, message }));
    } else if (isPlainObject(additionalProperties)) {
      merge(outcome, check(object[key], additionalProperties, `${name}.${key}`, oldMember(old, name, key), run));
    }
  }
  for (const key of Object.keys(properties).sort()) {
    const property = properties[key];
    if (property === undefined || !Object.hasOwn(object, key)) continue;
    merge(outcome, check(object[key], property, name === '' ? key : `${name}.${key}`, oldMember(old, name, key), run));
  }
  for (const key of schema.required ?? []) {
    if (Object.hasOwn(object, key)) continue;
    merge(outcome, failed({ code: 'required', name: `${name}.${key}`, message: `${name}.${key} in body is required` }));
  }
  return outcome;
}

function checkCombinations(
  value: unknown,
  schema: Readonly<JSONSchemaProps>,
  name: string,
  old: Old | undefined,
  run: Run,
): Outcome {
  const outcome: Outcome = { failures: [], matches: 0 };
  const complain = (rule: string) =>
    merge(outcome, failed({ code: 'composite', name, message: `${goQuote(name)} must ${rule}` }));
  const { anyOf = [], oneOf = [], allOf = [], not } = schema;
  if (anyOf.length > 0) {
    let best: Outcome | undefined;
    for (const alternative of anyOf) {
      best = better(best, tried(value, alternative, name, old, run));
      if (succeeded(best)) break;
    }
    if (best !== undefined && !succeeded(best)) complain('validate at least one schema (anyOf)');
    merge(outcome, best);
  }
  if (oneOf.length > 0) {
    const results = oneOf.map((alternative) => tried(value, alternative, name, old, run));
    const valid = results.filter(succeeded);
    if (valid.length === 1) merge(outcome, valid[0]);
    else {
      const found = valid.length === 0 ? 'Found none valid' : `Found ${valid.length} valid alternatives`;
      complain(`validate one and only one schema (oneOf). ${found}`);
      if (valid.length === 0) merge(outcome, bestOf(results));
    }
  }
  if (allOf.length > 0) {
    const results = allOf.map((part) => tried(value, part, name, old, run));
    for (const result of results) merge(outcome, result);
    const valid = results.filter(succeeded).length;
    if (valid < results.length) {
      complain(`validate all the schemas (allOf)${valid === 0 ? '. None validated' : ''}`);
    }
  }
  if (not !== undefined && succeeded(checkAll(value, not, name, old, run))) complain('not validate the schema (not)');
  outcome.matches += 1;
  return outcome;
}

const succeeded = ({ failures }: Outcome): boolean => failures.length === 0;

const bestOf = (results: readonly Outcome[]): Outcome | undefined =>
  results.reduce<Outcome | undefined>((best, result) => better(best, result), undefined);

/** What fits, else what matched most; of equals the first. */
const better = (best: Outcome | undefined, result: Outcome): Outcome =>
  best === undefined || succeeded(result) || result.matches > best.matches ? result : best;

function fieldErrorOf(failure: Failure, path: FieldPath | undefined): FieldError {
  const { code, message, value, limit = -1 } = failure;
  if (code === 'composite') return invalid(path, '', message);
  const name = failure.name.replace(/^\./, '');
  const at = name === '' ? path : path === undefined ? FieldPath.of(name) : path.child(name);
  switch (code) {
    case 'required':
      return required(at);
    case 'enum': {
      const allowed = failure.allowed ?? [];
      const shown = allowed.map((member) => (typeof member === 'string' ? member : JSON.stringify(sorted(member))));
      return notSupported(at, shownJson(value), shown);
    }
    case 'too-long':
      return tooLong(at, limit);
    case 'max-items':
    case 'max-properties':
      return tooMany(at, Number(value), limit);
    case 'type':
      return typeInvalid(at, value ?? '', message);
    case 'other':
      return invalid(at, value ?? '', message);
  }
}
