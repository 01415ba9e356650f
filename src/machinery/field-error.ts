// Where and how a value is wrong. Validation returns these as data, all of them, in the order of its rules.
import { goFloatText, isGoFloat } from '../lib/go/float.js';
import { goJson } from '../lib/go/json.js';
import { goQuote } from '../lib/go/quote.js';

/**
 * A path from an object's root to a field: `spec.containers[0].env[1].name`.
 * Paths are built on every validation, so a step is one small object and the text is made only for an error.
 */
export class FieldPath {
  private constructor(
    private readonly parent: FieldPath | undefined,
    private readonly step: string | number,
    private readonly subscript: boolean,
  ) {}

  static of(...names: readonly [string, ...string[]]): FieldPath {
    let path: FieldPath | undefined;
    for (const name of names) path = new FieldPath(path, name, false);
    return path as FieldPath;
  }

  // hot: several hundred times for one pod.
  child(name: string, ...more: readonly string[]): FieldPath {
    const path = new FieldPath(this, name, false);
    return more.length === 0 ? path : more.reduce((at, next) => new FieldPath(at, next, false), path);
  }

  index(position: number): FieldPath {
    return new FieldPath(this, position, true);
  }

  key(key: string): FieldPath {
    return new FieldPath(this, key, true);
  }

  toString(): string {
    // A step without a name is an index without a number.
    const bracketed = this.subscript || this.step === '';
    const own = bracketed ? `[${this.step}]` : String(this.step);
    if (this.parent === undefined) return own;
    return bracketed ? this.parent.toString() + own : `${this.parent.toString()}.${own}`;
  }
}

export type FieldErrorType =
  | 'FieldValueNotFound'
  | 'FieldValueRequired'
  | 'FieldValueDuplicate'
  | 'FieldValueInvalid'
  | 'FieldValueNotSupported'
  | 'FieldValueForbidden'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany'
  | 'InternalError'
  | 'FieldValueTypeInvalid';

const WORDS: Record<FieldErrorType, string> = {
  FieldValueNotFound: 'Not found',
  FieldValueRequired: 'Required value',
  FieldValueDuplicate: 'Duplicate value',
  FieldValueInvalid: 'Invalid value',
  FieldValueNotSupported: 'Unsupported value',
  FieldValueForbidden: 'Forbidden',
  FieldValueTooLong: 'Too long',
  FieldValueTooMany: 'Too many',
  InternalError: 'Internal error',
  FieldValueTypeInvalid: 'Invalid value',
};

const VALUE_NOT_SHOWN: ReadonlySet<FieldErrorType> = new Set<FieldErrorType>([
  'FieldValueRequired',
  'FieldValueForbidden',
  'FieldValueTooLong',
  'InternalError',
]);

/** A value that is shown verbatim, for the rare texts that are neither a quoted string nor JSON. */
export class Verbatim {
  constructor(readonly text: string) {}
}

/**
 * A string that has a type of its own in Kubernetes' code, as enumerations and names of resources have, or that may be
 * absent there: it is shown as JSON writes it, `<` as `\u003c`, and a plain string as Go quotes it.
 */
class NamedString {
  constructor(readonly text: string) {}
}

export const named = <T>(value: T): T | NamedString => (typeof value === 'string' ? new NamedString(value) : value);

export interface FieldError {
  readonly type: FieldErrorType;
  readonly field: string;
  /** `type: value: detail`, without the field. */
  readonly body: string;
}

export type FieldErrors = FieldError[];

/** Formats its texts when they are read: a large object may have a hundred times as many errors as are reported. */
class LazyFieldError implements FieldError {
  /** Memoized: the text may be long, and is read several times. */
  #body: string | undefined;

  constructor(
    readonly type: FieldErrorType,
    private readonly path: FieldPath | undefined,
    private readonly value: unknown,
    /** A text, or the values that are supported. */
    private readonly detail: string | readonly string[],
  ) {}

  get field(): string {
    return this.path === undefined ? '<nil>' : this.path.toString();
  }

  get body(): string {
    return (this.#body ??= this.#made());
  }

  #made(): string {
    const { type, value } = this;
    const shown = VALUE_NOT_SHOWN.has(type) ? WORDS[type] : `${WORDS[type]}: ${printValue(value)}`;
    const detail = detailText(this.detail);
    return detail === '' ? shown : `${shown}: ${detail}`;
  }
}

function detailText(detail: string | readonly string[]): string {
  if (typeof detail === 'string') return detail;
  return detail.length === 0 ? '' : `supported values: ${detail.map(goQuote).join(', ')}`;
}

function printValue(value: unknown): string {
  if (typeof value === 'string') return goQuote(value);
  if (value instanceof Verbatim) return value.text;
  if (value instanceof NamedString) return goJson(value.text);
  if (value === undefined || value === null) return 'null';
  if (typeof value === 'number' && isGoFloat(value)) return goFloatText(value);
  return goJson(value);
}

export const invalid = (path: FieldPath | undefined, value: unknown, detail: string): FieldError =>
  new LazyFieldError('FieldValueInvalid', path, value, detail);
export const typeInvalid = (path: FieldPath | undefined, value: unknown, detail: string): FieldError =>
  new LazyFieldError('FieldValueTypeInvalid', path, value, detail);
export const required = (path: FieldPath | undefined, detail = ''): FieldError =>
  new LazyFieldError('FieldValueRequired', path, '', detail);
export const duplicate = (path: FieldPath | undefined, value: unknown): FieldError =>
  new LazyFieldError('FieldValueDuplicate', path, value, '');
export const forbidden = (path: FieldPath | undefined, detail: string): FieldError =>
  new LazyFieldError('FieldValueForbidden', path, '', detail);
export const notFound = (path: FieldPath | undefined, value: unknown): FieldError =>
  new LazyFieldError('FieldValueNotFound', path, value, '');
export const internal = (path: FieldPath | undefined, detail: string): FieldError =>
  new LazyFieldError('InternalError', path, '', detail);

/** Of an enumeration. */
export const notSupported = (path: FieldPath | undefined, value: unknown, supported: readonly string[]): FieldError =>
  new LazyFieldError('FieldValueNotSupported', path, named(value), supported);

/** Of what has no type of its own: a plain string that only rules restrict, or a value of a custom resource. */
export const plainNotSupported = (
  path: FieldPath | undefined,
  value: unknown,
  supported: readonly string[],
): FieldError => new LazyFieldError('FieldValueNotSupported', path, value, supported);

/** `maxLength` counts bytes; a negative one is left out of the text. */
export function tooLong(path: FieldPath | undefined, maxLength: number): FieldError {
  const detail =
    maxLength < 0 ? 'value is too long' : `may not be more than ${maxLength} ${maxLength === 1 ? 'byte' : 'bytes'}`;
  return new LazyFieldError('FieldValueTooLong', path, '', detail);
}

export function tooMany(path: FieldPath | undefined, actual: number, max: number): FieldError {
  const detail = max < 0 ? 'has too many items' : `must have at most ${max} ${max === 1 ? 'item' : 'items'}`;
  return new LazyFieldError('FieldValueTooMany', path, actual, detail);
}

/** The same error with something more to say. */
export const withMore = ({ type, field, body }: FieldError, more: string): FieldError => ({
  type,
  field,
  body: `${body}: ${more}`,
});

export const fieldErrorText = (error: FieldError): string => `${error.field}: ${error.body}`;

/** One error as it is, several in brackets, each text once. */
export function aggregateText(texts: readonly string[]): string {
  const unique = [...new Set(texts)];
  return unique.length === 1 ? (unique[0] as string) : `[${unique.join(', ')}]`;
}
