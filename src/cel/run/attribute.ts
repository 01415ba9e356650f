// Access to variables and to what lies below them: `a.b[c].?d`. The steps after the first value are qualifiers.
//
// Costs follow kube-apiserver's bookkeeping: each qualifier costs one, and so does the attribute as a whole where it is
// evaluated as an expression; as the branch of a condition or as an index it costs only its qualifiers.
import { plainText } from './format-value.js';
import type { Evaluate, Frame } from './frame.js';
import { goName } from './go-name.js';
import { CelType } from '../type.js';
import { CelError, CelList, CelMap, noSuchOverload, OpaqueValue, Optional, typeOf, Uint } from '../value.js';
import type { Value } from '../value.js';

export interface Qualifier {
  /** Written `.?` or `[?`: what is absent becomes an empty optional. */
  readonly optional: boolean;
  /** Only tests whether the key is there. */
  readonly test: boolean;
  /** The key, which may itself have to be evaluated. */
  readonly key: Value | Evaluate;
}

export interface Attribute {
  readonly resolve: Evaluate;
  /** The attribute with one more qualifier. */
  with(qualifier: Qualifier): Attribute;
  /** Whether evaluating it costs one by itself; conditions do not. */
  readonly costsItself: boolean;
}

/** A variable or the result of any expression, with qualifiers after it. */
export function attribute(base: Evaluate, qualifiers: readonly Qualifier[] = []): Attribute {
  return {
    resolve:
      qualifiers.length === 0
        ? (frame) => readAgain(base(frame))
        : (frame) => applyQualifiers(frame, base(frame), qualifiers),
    with: (qualifier) => attribute(base, [...qualifiers, qualifier]),
    costsItself: true,
  };
}

/** `condition ? truthy : falsy`; a qualifier after it applies to the branch that was chosen. */
export function conditional(condition: Evaluate, truthy: Attribute, falsy: Attribute): Attribute {
  return {
    resolve: (frame) => {
      const chosen = condition(frame);
      if (chosen === true) return truthy.resolve(frame);
      if (chosen === false) return falsy.resolve(frame);
      return chosen instanceof CelError ? chosen : noSuchOverload();
    },
    with: (qualifier) => conditional(condition, truthy.with(qualifier), falsy.with(qualifier)),
    costsItself: false,
  };
}

/**
 * kube-apiserver opens an optional that it reads by a name or chooses by a condition, and makes one again of the Go value
 * it finds: not all of the types that libraries add survive that.
 */
function readAgain(read: Value): Value {
  if (!(read instanceof Optional) || read.value === undefined) return read;
  const { value } = read;
  if (value instanceof CelType) return Optional.of(value.name);
  if (value instanceof Optional) return Optional.of(value.value ?? null);
  return value instanceof OpaqueValue && value.readAgain !== undefined ? Optional.of(value.readAgain()) : read;
}

// hot: every access to a field.
function applyQualifiers(frame: Frame, base: Value, qualifiers: readonly Qualifier[]): Value {
  let value = base;
  let optional = false;
  if (value instanceof Optional) {
    if (value.value === undefined) return value;
    value = value.value;
    optional = true;
  }
  for (const qualifier of qualifiers) {
    if (value instanceof CelError) return value;
    optional ||= qualifier.optional;
    const key = typeof qualifier.key === 'function' ? qualifier.key(frame) : qualifier.key;
    if (key instanceof CelError) {
      if (!optional) frame.charge(1);
      return key;
    }
    const found = lookUp(value, key);
    if (found instanceof CelError && !(qualifier.test && notAContainer(value))) {
      if (!optional) frame.charge(1);
      return found;
    }
    const present = found !== undefined && !(found instanceof CelError);
    if (present || !optional) frame.charge(1);
    if (qualifier.test) return present;
    if (found === undefined) return optional ? Optional.none : missing(value, key);
    value = found;
  }
  return optional && !(value instanceof CelError) ? Optional.of(value) : value;
}

/** What is under a key; undefined when nothing is; an error when the key does not suit. */
function lookUp(container: Value, key: Value): Value | undefined {
  if (container instanceof CelMap) return container.find(key);
  if (container instanceof CelList) {
    const index = listIndex(key);
    if (index instanceof CelError) return index;
    return index >= 0 && index < container.size ? container.at(index) : undefined;
  }
  if (container instanceof OpaqueValue && container.find !== undefined) {
    return typeof key === 'string' ? container.find(key) : noSuchOverload();
  }
  return undefined;
}

const notAContainer = (value: Value): boolean => !(value instanceof CelMap || value instanceof CelList);

function missing(container: Value, key: Value): CelError {
  if (container instanceof CelList) return new CelError(`index out of bounds: ${plainText(key)}`);
  if (!isKey(key)) return new CelError(`invalid qualifier type: ${goName(key)}`);
  return new CelError(`no such key: ${plainText(key)}`);
}

const isKey = (key: Value): boolean =>
  key instanceof Uint || ['string', 'bigint', 'number', 'boolean'].includes(typeof key);

function listIndex(key: Value): number | CelError {
  if (typeof key === 'bigint') return Number(key);
  if (typeof key === 'number' && Number.isInteger(key)) return key;
  if (key instanceof Uint && key.value < 2n ** 63n) return Number(key.value);
  if (typeof key === 'number' || key instanceof Uint) {
    return new CelError(`unsupported index value ${plainText(key)} in list`);
  }
  return new CelError(`unsupported index type '${typeOf(key).name}' in list`);
}
