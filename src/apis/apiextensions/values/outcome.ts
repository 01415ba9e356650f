// What a check of a value found: what does not fit, and how much of it did.
import { goJson } from '../../../lib/go/json.js';
import { goQuote } from '../../../lib/go/quote.js';
import {
  type FieldError,
  FieldPath,
  invalid,
  plainNotSupported,
  required,
  tooLong,
  tooMany,
  typeInvalid,
} from '../../../machinery/field-error.js';
import { shownJson, sorted } from './shown-json.js';

type Code = 'required' | 'enum' | 'too-long' | 'max-items' | 'max-properties' | 'type' | 'other' | 'composite';

export interface Failure {
  readonly code: Code;
  /** Where, from the value's root: `spec.size`. */
  readonly name: string;
  readonly message: string;
  readonly value?: unknown;
  readonly limit?: number;
  readonly allowed?: readonly unknown[];
}

/** What a check found. Of several alternatives that fail, the one that matched most is reported. */
export interface Outcome {
  failures: Failure[];
  matches: number;
  /** Of the failures' messages; made when there are two. */
  reported?: Set<string>;
}

/** More failures than any answer reports. */
const MAX_FAILURES = 20_000;

export function merge(into: Outcome, from: Outcome | undefined): void {
  if (from === undefined) return;
  into.matches += from.matches;
  if (from.failures.length === 0) return;
  if (into.failures.length === 0) {
    // What failed deep inside is handed up through all that is around it: not one by one each time.
    into.failures = from.failures;
    if (from.reported !== undefined) into.reported = from.reported;
    return;
  }
  const reported = (into.reported ??= new Set(into.failures.map(({ message }) => message)));
  for (const failure of from.failures) {
    if (into.failures.length >= MAX_FAILURES) return;
    if (reported.has(failure.message)) continue;
    reported.add(failure.message);
    into.failures.push(failure);
  }
}

export const failed = (failure: Failure): Outcome => ({ failures: [failure], matches: 0 });
export const other = (name: string, value: unknown, rule: string): Failure => ({
  code: 'other',
  name,
  value,
  message: `${name} in body ${rule}`,
});
export const wrongType = (name: string, wanted: string, found: string): Failure => ({
  code: 'type',
  name,
  value: found,
  message: `${name} in body must be of type ${wanted}: ${goQuote(found)}`,
});

export const succeeded = ({ failures }: Outcome): boolean => failures.length === 0;

export const bestOf = (results: readonly Outcome[]): Outcome | undefined =>
  results.reduce<Outcome | undefined>((best, result) => better(best, result), undefined);

/** What fits, else what matched most; of equals the first. */
export const better = (best: Outcome | undefined, result: Outcome): Outcome =>
  best === undefined || succeeded(result) || result.matches > best.matches ? result : best;

export function fieldErrorOf(failure: Failure, path: FieldPath | undefined): FieldError {
  const { code, message, value, limit = -1 } = failure;
  if (code === 'composite') return invalid(path, '', message);
  const name = failure.name.replace(/^\./, '');
  const at = name === '' ? path : path === undefined ? FieldPath.of(name) : path.child(name);
  switch (code) {
    case 'required':
      return required(at);
    case 'enum': {
      const allowed = failure.allowed ?? [];
      const shown = allowed.map((member) => (typeof member === 'string' ? member : goJson(sorted(member))));
      return plainNotSupported(at, shownJson(value), shown);
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
