// One step of a path in a field set, in its wire form:
//
//   f:replicas                                a member of a struct or map
//   k:{"containerPort":80,"protocol":"TCP"}   an item of a list with keys
//   v:"example.test/finalizer"                an item of a set
//   i:3                                       an item by position
//
// The text in canonical form is the step: equal steps are equal strings.
import { compareText } from '../../lib/text/compare-text.js';
import { boundedMemo } from '../../lib/values/bounded-memo.js';
import { errorText } from '../../lib/text/error-text.js';
import { goQuote } from '../../lib/go/quote.js';
import { isPlainObject } from '../../lib/values/plain-object.js';
import { sortItems, sortTexts } from '../../lib/values/sort-few.js';
import { sortSteps } from '../../lib/scheduling/sort-steps.js';
import type { StepGenerator } from '../../lib/scheduling/yield.js';
import { ManagedFieldsError } from './managed-fields-error.js';

export const fieldElement = (name: string): string => `f:${name}`;

export const valueElement = (value: unknown): string => `v:${keyJson(value)}`;

/** `fields` in the order of their names. */
export function keyElement(fields: readonly (readonly [name: string, value: unknown])[]): string {
  let text = '';
  for (const [name, value] of fields) text += `${text === '' ? '' : ','}${keyJson(name)}:${keyJson(value)}`;
  return `k:{${text}}`;
}

/** The name of a field step; undefined for the others. */
export const fieldName = (element: string): string | undefined =>
  element.startsWith('f:') ? element.slice(2) : undefined;

/** Canonical form; undefined for kinds of steps of a later time, which are skipped. Throws ManagedFieldsError for what is no step. */
export function parseElement(text: string): string | undefined {
  if (text.length < 2) throw new ManagedFieldsError('key must be 2 characters long:');
  if (text[1] !== ':') throw new ManagedFieldsError(`missing colon: ${text}`);
  switch (text[0]) {
    case 'f':
      return text;
    case 'v':
      return valueElement(parsed(text));
    case 'k': {
      const key: unknown = parsed(text);
      if (typeof key !== 'object' || key === null) throw new ManagedFieldsError(`expected an object: ${text}`);
      return keyElement(Object.entries(key).toSorted(([a], [b]) => compareText(a, b)));
    }
    case 'i':
      if (!/^-?[0-9]+$/.test(text.slice(2))) throw new ManagedFieldsError(`no index: ${text}`);
      return text;
    default:
      return undefined;
  }
}

function parsed(element: string): unknown {
  try {
    return JSON.parse(element.slice(2));
  } catch (error) {
    throw new ManagedFieldsError(errorText(error), { cause: error });
  }
}

/** In place: fields, then keys, then values, then positions; numbers by their size. */
export function sortElements(elements: string[]): string[] {
  if (elements.length < 2) return elements;
  if (elements.every(isField)) return sortTexts(elements);
  const readable = elements.map(elements.length <= FEW ? readOften : read);
  return sortItems(readable, compareRead).map(({ element }) => element);
}

/** sortElements() in steps, for many. */
export function* sortElementSteps(elements: string[]): StepGenerator<string[]> {
  if (elements.length <= MANY || elements.every(isField)) return sortElements(elements);
  const all: ReadElement[] = [];
  for (const element of elements) {
    all.push(read(element));
    if (all.length % MANY === 0) yield;
  }
  yield;
  const sorted = yield* sortSteps(all, compareRead);
  yield;
  return sorted.map(({ element }) => element);
}

const isField = (element: string): boolean => element.startsWith('f:');

const FEW = 16;
const MANY = 4096;

/** A step with what its text says, which is read once and not at every comparison. */
interface ReadElement {
  readonly element: string;
  readonly kind: number;
  readonly value: unknown;
}

function read(element: string): ReadElement {
  const rest = element.slice(2);
  const kind = KINDS.indexOf(element[0] as string);
  switch (element[0]) {
    case 'f':
      return { element, kind, value: rest };
    case 'k':
      return { element, kind, value: Object.entries(JSON.parse(rest) as object) };
    case 'v':
      return { element, kind, value: JSON.parse(rest) };
    default:
      return { element, kind, value: Number(rest) };
  }
}

/** The items of short lists have the same few keys in most objects. */
const readOften = boundedMemo(1024, read);

function compareRead(left: ReadElement, right: ReadElement): number {
  if (left.kind !== right.kind) return left.kind - right.kind;
  if (left.kind !== KEYS) return compareValues(left.value, right.value);
  return compareKeys(left.value as Fields, right.value as Fields);
}

/** As people read it: `.spec`, `[name="a"]`, `[="x"]`, `[3]`. */
export function elementText(element: string): string {
  const rest = element.slice(2);
  switch (element[0]) {
    case 'f':
      return `.${rest}`;
    case 'k': {
      const fields = Object.entries(JSON.parse(rest) as object);
      return `[${fields.map(([name, value]) => `${name}=${valueText(value)}`).join(',')}]`;
    }
    case 'v':
      return `[=${valueText(JSON.parse(rest))}]`;
    default:
      return `[${rest}]`;
  }
}

export const pathText = (path: readonly string[]): string => path.map(elementText).join('');

const KINDS = 'fkvi';
const KEYS = KINDS.indexOf('k');
const HTML: Readonly<Record<string, string>> = {
  '<': '\\u003c',
  '>': '\\u003e',
  '&': '\\u0026',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
};

// hot: for every item of a list with keys.
function keyJson(value: unknown): string {
  if (typeof value === 'string' && PLAIN.test(value)) return `"${value}"`;
  if (typeof value === 'number') return `${value}`;
  if (typeof value === 'bigint') return value.toString();
  const text = JSON.stringify(value);
  return /[<>&\u2028\u2029]/.test(text) ? text.replace(/[<>&\u2028\u2029]/g, (char) => HTML[char] as string) : text;
}

/** Nothing in it needs an escape. */
const PLAIN = /^[ !#-%'-;=?-[\]-~]*$/;

type Fields = readonly (readonly [name: string, value: unknown])[];

function compareKeys(left: Fields, right: Fields): number {
  for (let position = 0; position < left.length; position++) {
    const [name, value] = left[position] as Fields[number];
    const other = right[position];
    if (other === undefined) return 1;
    const order = compareText(name, other[0]) || compareValues(value, other[1]);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

const RANKS: Readonly<Record<string, number>> = { number: 0, string: 1, boolean: 2, array: 3, object: 4, null: 5 };
const rank = (value: unknown): number =>
  RANKS[value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value] as number;

function compareValues(left: unknown, right: unknown): number {
  const order = rank(left) - rank(right);
  if (order !== 0) return order;
  if (typeof left === 'number') return left - (right as number);
  if (typeof left === 'string') return compareText(left, right as string);
  return compareText(JSON.stringify(left), JSON.stringify(right));
}

/** Of an object the members follow each other. */
function valueText(value: unknown): string {
  if (typeof value === 'string') return goQuote(value);
  if (Array.isArray(value)) return `[${value.map(valueText).join(',')}]`;
  if (!isPlainObject(value)) return JSON.stringify(value);
  return Object.entries(value)
    .map(([name, member]) => `${name}=${valueText(member)}`)
    .join('');
}
