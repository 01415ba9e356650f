// Does a JSON value fit a schema? Used for defaults in CRDs, and for every custom resource.
import { FloatLiteral } from '../../../lib/json/float-literal.js';
import { goQuote } from '../../../lib/go/quote.js';
import { isPlainObject } from '../../../lib/values/plain-object.js';
import { asWritten } from '../../../lib/json/whole-floats.js';
import type { FieldErrors, FieldPath } from '../../../machinery/field-error.js';
import { timeout } from '../../../machinery/status.js';
import { matchesFormat } from '../../../machinery/validation/string-formats.js';
import type { JSONSchemaProps } from '../../../schema/generated/apiextensions.v1.js';
import { canonicalText, checkEnum, checkNumber, checkString, checkType, statedType } from './check-scalar.js';
import type { Correlation } from './correlation.js';
import { bestOf, better, failed, fieldErrorOf, merge, other, type Outcome, succeeded, wrongType } from './outcome.js';

export interface ValidatedValue {
  /** Where the value stands; undefined at the root of an object. */
  readonly path: FieldPath | undefined;
  /** What an update replaces: what was wrong before and is still the same may stay. */
  readonly old?: Correlation | undefined;
  /** Counts those of one write together. */
  readonly trials?: Trials;
}

export function validateValue(
  value: unknown,
  schema: Readonly<JSONSchemaProps>,
  { path, old, trials = new Trials() }: ValidatedValue,
): FieldErrors {
  const { failures } = new ValueCheck(trials).check(value, schema, '', old);
  return failures.map((failure) => fieldErrorOf(failure, path));
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

type Schema = Readonly<JSONSchemaProps>;
type Old = Correlation | undefined;

class ValueCheck {
  constructor(private readonly trials: Trials) {}

  check(value: unknown, schema: Schema, name: string, old: Old): Outcome {
    const outcome = this.#checkAll(value, schema, name, old);
    const unchanged = outcome.failures.length > 0 && old?.isUnchanged() === true;
    return unchanged ? { failures: [], matches: outcome.matches } : outcome;
  }

  /** One of the alternatives that a value is tried with. */
  #tried(value: unknown, alternative: Schema, name: string, old: Old): Outcome {
    this.trials.take();
    return this.#checkAll(value, alternative, name, old);
  }

  #checkAll(given: unknown, schema: Schema, name: string, old: Old): Outcome {
    const outcome: Outcome = { failures: [], matches: 0 };
    const isFloat = given instanceof FloatLiteral;
    const value = isFloat ? given.value : given;
    const stated = statedType(schema, this.trials.ofDefaults);
    if (value === null || value === undefined) {
      merge(outcome, checkType(value, stated, name));
      merge(outcome, checkEnum(value, schema, name));
      return outcome;
    }
    if (stated.types.length > 0 || schema.format) {
      merge(outcome, checkType(value, stated, name));
      outcome.matches += 1;
    }
    merge(outcome, this.#checkCombinations(given, schema, name, old));
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
      merge(outcome, this.#checkList(value, schema, name, old));
      outcome.matches += 1;
    }
    merge(outcome, checkEnum(value, schema, name));
    outcome.matches += 1;
    if (isPlainObject(value)) {
      merge(outcome, this.#checkObject(value, schema, name, old));
      outcome.matches += 1;
    }
    outcome.matches += 1;
    return outcome;
  }

  #checkList(items: readonly unknown[], schema: Schema, name: string, old: Old): Outcome {
    const outcome: Outcome = { failures: [], matches: 1 };
    const { items: itemSchema, minItems, maxItems } = schema;
    if (itemSchema !== undefined && !Array.isArray(itemSchema)) {
      for (const [i, item] of items.entries())
        merge(outcome, this.check(asWritten(items, i, item), itemSchema, `${name}[${i}]`, old?.item(i)));
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

  #checkObject(object: Readonly<Record<string, unknown>>, schema: Schema, name: string, old: Old): Outcome {
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
        merge(outcome, this.check(value, additionalProperties, `${name}.${key}`, oldMember(old, name, key)));
      }
    }
    for (const key of Object.keys(properties).sort()) {
      const property = properties[key];
      if (property === undefined || !Object.hasOwn(object, key)) continue;
      const value = asWritten(object, key, object[key]);
      merge(outcome, this.check(value, property, name === '' ? key : `${name}.${key}`, oldMember(old, name, key)));
    }
    for (const key of schema.required ?? []) {
      if (Object.hasOwn(object, key)) continue;
      merge(
        outcome,
        failed({ code: 'required', name: `${name}.${key}`, message: `${name}.${key} in body is required` }),
      );
    }
    return outcome;
  }

  #checkCombinations(value: unknown, schema: Schema, name: string, old: Old): Outcome {
    const outcome: Outcome = { failures: [], matches: 0 };
    const complain = (rule: string) =>
      merge(outcome, failed({ code: 'composite', name, message: `${goQuote(name)} must ${rule}` }));
    const { anyOf = [], oneOf = [], allOf = [], not } = schema;
    if (anyOf.length > 0) {
      let best: Outcome | undefined;
      for (const alternative of anyOf) {
        best = better(best, this.#tried(value, alternative, name, old));
        if (succeeded(best)) break;
      }
      if (best !== undefined && !succeeded(best)) complain('validate at least one schema (anyOf)');
      merge(outcome, best);
    }
    if (oneOf.length > 0) {
      const results = oneOf.map((alternative) => this.#tried(value, alternative, name, old));
      const valid = results.filter(succeeded);
      if (valid.length === 1) merge(outcome, valid[0]);
      else {
        const found = valid.length === 0 ? 'Found none valid' : `Found ${valid.length} valid alternatives`;
        complain(`validate one and only one schema (oneOf). ${found}`);
        if (valid.length === 0) merge(outcome, bestOf(results));
      }
    }
    if (allOf.length > 0) {
      const results = allOf.map((part) => this.#tried(value, part, name, old));
      for (const result of results) merge(outcome, result);
      const valid = results.filter(succeeded).length;
      if (valid < results.length) {
        complain(`validate all the schemas (allOf)${valid === 0 ? '. None validated' : ''}`);
      }
    }
    if (not !== undefined && succeeded(this.#checkAll(value, not, name, old)))
      complain('not validate the schema (not)');
    outcome.matches += 1;
    return outcome;
  }
}

const META_FIELDS = new Set(['apiVersion', 'kind', 'metadata']);

/** What every resource has at its root is always looked at. */
const oldMember = (old: Correlation | undefined, name: string, key: string): Correlation | undefined =>
  name === '' && META_FIELDS.has(key) ? undefined : old?.member(key);
