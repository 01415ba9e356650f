// Does a JSON value fit a schema? Used for defaults in CRDs, and for every custom resource.
import { FloatLiteral } from '../../../lib/json/float-literal.js';
import { goQuote } from '../../../lib/go/quote.js';
import { isPlainObject } from '../../../lib/values/plain-object.js';
import { asWritten } from '../../../lib/json/whole-floats.js';
import type { FieldErrors, FieldPath } from '../../../machinery/field-error.js';
import { timeout } from '../../../machinery/status.js';
import { matchesFormat } from '../../../machinery/validation/string-formats.js';
import type { JSONSchemaProps } from '../../../schema/generated/apiextensions.v1.js';
import { canonicalText, checkEnum, checkNumber, checkString, checkType } from './check-scalar.js';
import type { Correlation } from './correlation.js';
import { bestOf, better, failed, fieldErrorOf, merge, other, type Outcome, succeeded, wrongType } from './outcome.js';

/**
 * `path` is where the value stands; undefined at the root of an object. `old` is what an update replaces: what was wrong
 * before and is still the same may stay.
 */
export function validateValue(
  value: unknown,
  schema: Readonly<JSONSchemaProps>,
  path: FieldPath | undefined,
  old?: Correlation,
  trials = new Trials(),
): FieldErrors {
  return check(value, schema, '', old, trials).failures.map((failure) => fieldErrorOf(failure, path));
}

/**
 * Each value is tried with each alternative of its schema, and both may be many. kube-apiserver has no bound but the time
 * of the request, in which it does not come so far.
 */
const MAX_ALTERNATIVES = 20_000_000;

/** What is bounded is all of a write together. */
export class Trials {
  #left: number;

  constructor(
    most = MAX_ALTERNATIVES,
    /** Of defaults: kube-apiserver has them tried with a form of the schema in which int-or-string is no type. */
    readonly ofDefaults = false,
  ) {
    this.#left = most;
  }

  static ofDefaults(): Trials {
    return new Trials(MAX_ALTERNATIVES, true);
  }

  take(): void {
    if (--this.#left < 0) throw timeout('the object was tried with too many alternatives of its schema');
  }
}

type Check<Value = unknown> = (
  value: Value,
  schema: Readonly<JSONSchemaProps>,
  name: string,
  old: Correlation | undefined,
  trials: Trials,
) => Outcome;

const check: Check = (value, schema, name, old, trials) => {
  const outcome = checkAll(value, schema, name, old, trials);
  const unchanged = outcome.failures.length > 0 && old?.isUnchanged() === true;
  return unchanged ? { failures: [], matches: outcome.matches } : outcome;
};

/** One of the alternatives that a value is tried with. */
const tried: Check = (value, alternative, name, old, trials) => {
  trials.take();
  return checkAll(value, alternative, name, old, trials);
};

const checkAll: Check = (given, schema, name, old, trials) => {
  const outcome: Outcome = { failures: [], matches: 0 };
  const isFloat = given instanceof FloatLiteral;
  const value = isFloat ? given.value : given;
  const types = typesOf(schema, trials.ofDefaults);
  if (value === null || value === undefined) {
    merge(outcome, checkType(value, types, schema, name, trials.ofDefaults));
    merge(outcome, checkEnum(value, schema, name));
    return outcome;
  }
  if (types.length > 0 || schema.format) {
    merge(outcome, checkType(value, types, schema, name, trials.ofDefaults));
    outcome.matches += 1;
  }
  merge(outcome, checkCombinations(given, schema, name, old, trials));
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
    merge(outcome, checkNumber(value, isFloat, schema, name));
    outcome.matches += 1;
  } else if (Array.isArray(value)) {
    merge(outcome, checkList(value, schema, name, old, trials));
    outcome.matches += 1;
  }
  merge(outcome, checkEnum(value, schema, name));
  outcome.matches += 1;
  if (isPlainObject(value)) {
    merge(outcome, checkObject(value, schema, name, old, trials));
    outcome.matches += 1;
  }
  outcome.matches += 1;
  return outcome;
};

const typesOf = (schema: Readonly<JSONSchemaProps>, isDefault: boolean): readonly string[] => {
  if (schema['x-kubernetes-int-or-string'] && !isDefault) return ['integer', 'string'];
  return schema.type ? [schema.type] : [];
};

const checkList: Check<readonly unknown[]> = (items, schema, name, old, trials) => {
  const outcome: Outcome = { failures: [], matches: 1 };
  const { items: itemSchema, minItems, maxItems } = schema;
  if (itemSchema !== undefined && !Array.isArray(itemSchema)) {
    for (const [i, item] of items.entries())
      merge(outcome, check(asWritten(items, i, item), itemSchema, `${name}[${i}]`, old?.item(i), trials));
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
};

const META_FIELDS = new Set(['apiVersion', 'kind', 'metadata']);

/** What every resource has at its root is always looked at. */
const oldMember = (old: Correlation | undefined, name: string, key: string): Correlation | undefined =>
  name === '' && META_FIELDS.has(key) ? undefined : old?.member(key);

const checkObject: Check<Readonly<Record<string, unknown>>> = (object, schema, name, old, trials) => {
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
      const value = asWritten(object, key, object[key]);
      merge(outcome, check(value, additionalProperties, `${name}.${key}`, oldMember(old, name, key), trials));
    }
  }
  for (const key of Object.keys(properties).sort()) {
    const property = properties[key];
    if (property === undefined || !Object.hasOwn(object, key)) continue;
    const value = asWritten(object, key, object[key]);
    merge(outcome, check(value, property, name === '' ? key : `${name}.${key}`, oldMember(old, name, key), trials));
  }
  for (const key of schema.required ?? []) {
    if (Object.hasOwn(object, key)) continue;
    merge(outcome, failed({ code: 'required', name: `${name}.${key}`, message: `${name}.${key} in body is required` }));
  }
  return outcome;
};

const checkCombinations: Check = (value, schema, name, old, trials) => {
  const outcome: Outcome = { failures: [], matches: 0 };
  const complain = (rule: string) =>
    merge(outcome, failed({ code: 'composite', name, message: `${goQuote(name)} must ${rule}` }));
  const { anyOf = [], oneOf = [], allOf = [], not } = schema;
  if (anyOf.length > 0) {
    let best: Outcome | undefined;
    for (const alternative of anyOf) {
      best = better(best, tried(value, alternative, name, old, trials));
      if (succeeded(best)) break;
    }
    if (best !== undefined && !succeeded(best)) complain('validate at least one schema (anyOf)');
    merge(outcome, best);
  }
  if (oneOf.length > 0) {
    const results = oneOf.map((alternative) => tried(value, alternative, name, old, trials));
    const valid = results.filter(succeeded);
    if (valid.length === 1) merge(outcome, valid[0]);
    else {
      const found = valid.length === 0 ? 'Found none valid' : `Found ${valid.length} valid alternatives`;
      complain(`validate one and only one schema (oneOf). ${found}`);
      if (valid.length === 0) merge(outcome, bestOf(results));
    }
  }
  if (allOf.length > 0) {
    const results = allOf.map((part) => tried(value, part, name, old, trials));
    for (const result of results) merge(outcome, result);
    const valid = results.filter(succeeded).length;
    if (valid < results.length) {
      complain(`validate all the schemas (allOf)${valid === 0 ? '. None validated' : ''}`);
    }
  }
  if (not !== undefined && succeeded(checkAll(value, not, name, old, trials)))
    complain('not validate the schema (not)');
  outcome.matches += 1;
  return outcome;
};
