// The result of a mutation's expression, as JSON.
import type { Mutation } from '../compiled-policy.js';
import { goValueText } from '../../lib/go/value.js';
import { setMember } from '../../lib/values/plain-object.js';
import { formatDuration, formatTimestamp } from '../run/time.js';
import {
  ArrayList,
  CelError,
  CelList,
  CelMap,
  ConcatList,
  Duration,
  EntryMap,
  Timestamp,
  typeOf,
  Uint,
  type Value,
} from '../value.js';
import { MadeObject } from './patch-types.js';

/** An `Object{…}`, or a list of `JSONPatch{…}`: the compiler lets nothing else through. */
export function mutationOf(value: Value): Mutation {
  try {
    if (value instanceof MadeObject) {
      checkTypeNames(value);
      return { kind: 'apply-configuration', configuration: appliedObject(value, ''), makesNull: makesNull(value) };
    }
    if (value instanceof CelList) return { kind: 'json-patch', operations: [...value].map(operationJson) };
  } catch (error) {
    if (error instanceof NoMutation) return { kind: 'error', error: error.message };
    throw error;
  }
  return { kind: 'error', error: 'type mismatch: JSONPatchType.expression should evaluate to array' };
}

class NoMutation extends Error {}

/** Fields may be anything to the compiler, yet an object made for one place must not stand at another. */
function checkTypeNames(root: MadeObject): void {
  const mistakes: string[] = [];
  visitTypeNames(root, root.type.name, mistakes);
  if (mistakes.length > 0) throw new NoMutation(`type mismatch: ${mistakes.join('\n')}`);
}

function visitTypeNames(value: Value, expected: string, mistakes: string[]): void {
  if (value instanceof MadeObject) {
    const { name } = value.type;
    if (name !== expected) {
      mistakes.push(
        `unexpected type name "${name}", expected "${expected}", which matches field name path from root Object type`,
      );
    }
    for (const [field, member] of value.fields) visitTypeNames(member, `${expected}.${field}`, mistakes);
  } else if (value instanceof CelList) {
    for (const item of value) visitTypeNames(item, expected, mistakes);
  } else if (value instanceof CelMap) {
    for (const key of value.keys()) visitTypeNames(value.find(key) ?? null, expected, mistakes);
  }
}

/** A configuration as JSON. */
function appliedObject({ fields }: MadeObject, path: string): Record<string, unknown> {
  const object: Record<string, unknown> = {};
  for (const [field, value] of fields) setMember(object, field, appliedJson(value, `${path}.${field}`));
  return object;
}

function appliedJson(value: Value, path: string): unknown {
  if (value instanceof EntryMap) {
    const object: Record<string, unknown> = {};
    for (const key of value.keys()) {
      if (typeof key !== 'string') throw new NoMutation('invalid return type: *dynamic.ObjectVal');
      setMember(object, key, appliedItem(value.find(key) ?? null, `${path}.${key}`));
    }
    return object;
  }
  if (isMadeList(value)) return [...value].map((item, index) => appliedItem(item, `${path}[${index}]`));
  return value instanceof MadeObject ? appliedObject(value, path) : toJson(value, appliedScalar);
}

/** Lists and maps that an expression makes within others stay what the language has for them, which no field accepts. */
function appliedItem(value: Value, path: string): unknown {
  const wanted = value instanceof EntryMap ? 'map' : isMadeList(value) ? 'list' : undefined;
  if (wanted === undefined) return appliedJson(value, path);
  const got = `expected ${wanted}, got &{${goValueText(toJson(value, appliedScalar))}}`;
  throw new NoMutation(`error applying patch: failed to convert patch object to typed object: ${path}: ${got}`);
}

/** Not one from an object. */
const isMadeList = (value: Value): value is ArrayList | ConcatList =>
  value instanceof ArrayList || value instanceof ConcatList;

function makesNull(value: Value): boolean {
  if (value instanceof MadeObject) return [...value.fields.values()].some(makesNull);
  if (value instanceof EntryMap) return [...value.keys()].some((key) => makesNull(value.find(key) ?? null));
  return value === null || (isMadeList(value) && [...value].some(makesNull));
}

type Scalar = (value: Value) => unknown;

function toJson(value: Value, scalar: Scalar): unknown {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (value instanceof MadeObject) return membersJson(value.fields, scalar);
  if (value instanceof CelList) return [...value].map((item) => toJson(item, scalar));
  if (value instanceof CelMap) return membersJson(entriesOf(value), scalar);
  if (value instanceof CelError) throw new NoMutation(value.message);
  return scalar(value);
}

function membersJson(members: Iterable<readonly [string, Value]>, scalar: Scalar): Record<string, unknown> {
  const object: Record<string, unknown> = {};
  for (const [name, value] of members) setMember(object, name, toJson(value, scalar));
  return object;
}

function* entriesOf(map: CelMap): Iterable<readonly [string, Value]> {
  for (const key of map.keys()) {
    if (typeof key !== 'string') {
      throw unprintable(`unsupported type conversion from '${typeOf(key).name}' to string`);
    }
    yield [key, map.find(key) ?? null];
  }
}

function appliedScalar(value: Value): unknown {
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  const whole = wholeNumber(value);
  if (whole !== undefined) return isSafe(whole) ? Number(whole) : whole;
  throw new NoMutation(`unsupported value of type ${typeOf(value).name} in an apply configuration`);
}

const wholeNumber = (value: Value): bigint | undefined =>
  typeof value === 'bigint' ? value : value instanceof Uint ? value.value : undefined;

const isSafe = (whole: bigint): boolean =>
  whole >= BigInt(Number.MIN_SAFE_INTEGER) && whole <= BigInt(Number.MAX_SAFE_INTEGER);

/** A patch's values go through JSON: numbers it cannot hold are texts there, and so are bytes and times. */
function patchScalar(value: Value): unknown {
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  const whole = wholeNumber(value);
  if (whole !== undefined) return isSafe(whole) ? Number(whole) : String(whole);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (value instanceof Timestamp) return formatTimestamp(value);
  if (value instanceof Duration) return formatDuration(value);
  const { name } = typeOf(value);
  throw unprintable(`type conversion error from '${name.slice(name.lastIndexOf('.') + 1)}' to '*structpb.Value'`);
}

const unprintable = (why: string): NoMutation =>
  new NoMutation(`JSONPath valueExpression evaluated to a type that could not marshal to JSON: ${why}`);

function operationJson(operation: Value): Record<string, unknown> {
  if (!(operation instanceof MadeObject)) {
    throw new NoMutation('type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch');
  }
  const { fields } = operation;
  const from = fields.get('from');
  const value = fields.get('value');
  if (value instanceof MadeObject) checkTypeNames(value);
  return {
    op: textOf(fields.get('op')),
    path: textOf(fields.get('path')),
    ...(from !== undefined && from !== '' && { from: textOf(from) }),
    ...(value !== undefined && { value: toJson(value, patchScalar) }),
  };
}

const textOf = (value: Value | undefined): string => (typeof value === 'string' ? value : '');
