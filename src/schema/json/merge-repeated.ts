// What an object that names members twice means to kube-apiserver: its decoder reads the second value into what the first
// one left there.
//
//   {"http":{"paths":[…]},"http":{}}            paths stay
//   {"args":["a","b"],"args":[null]}            ["a"]: null says nothing of a text, and the list is cut
//   {"labels":{"a":"1"},"labels":{"b":"2"}}     both; but the value of a key in a map is a new one each time
//   {"hostname":"a","hostname":null}            "a", where it is no pointer
import { isJsonObject } from '../../lib/json/float-literal.js';
import { setMember } from '../../lib/values/plain-object.js';
import type { ListType, MapType, ScalarName, StructType, Type } from '../type.js';
import type { ParsedJson } from './parse.js';
import { schemaProps } from './scalar.js';

/** A tree that names everything once and decodes alike. All values must fit the type: explain() checks that. */
export const mergeRepeated = (type: StructType, { value, repeated }: ParsedJson): unknown =>
  new Merger(repeated).value(type, undefined, value);

class Merger {
  /** Of lists that were cut: what lies behind their ends still, last first, and is found there when they grow again. */
  readonly #behind = new WeakMap<unknown[], unknown[]>();

  constructor(readonly repeated: ParsedJson['repeated']) {}

  /** `old` is what stands there already, undefined when nothing does. */
  value(type: Type, old: unknown, value: unknown, pointer = false): unknown {
    switch (type.kind) {
      case 'struct':
        if (isJsonObject(value)) return this.#struct(type, old, value);
        return pointer ? value : (old ?? value);
      case 'map':
        return isJsonObject(value) ? this.#map(type, old, value) : value;
      case 'list':
        return Array.isArray(value) ? this.#list(type, old, value) : value;
      case 'scalar':
        return value === null ? this.#null(type.scalar, old, pointer) : this.#scalar(type.scalar, value);
    }
  }

  #struct(type: StructType, old: unknown, value: Record<string, unknown>): unknown {
    const result = isJsonObject(old) ? old : {};
    for (const [key, member] of this.#members(value)) {
      const field = type.byJson.get(key);
      if (field === undefined) setMember(result, key, member);
      else setMember(result, key, this.value(field.type, result[key], member, field.pointer));
    }
    return result;
  }

  #map(type: MapType, old: unknown, value: Record<string, unknown>): unknown {
    const result = isJsonObject(old) ? old : {};
    for (const [key, member] of this.#members(value)) setMember(result, key, this.value(type.value, undefined, member));
    return result;
  }

  #list(type: ListType, old: unknown, value: readonly unknown[]): unknown {
    if (!Array.isArray(old) || value.length === 0)
      return value.map((item) => this.value(type.element, undefined, item));
    const behind = this.#behind.get(old) ?? [];
    while (old.length < value.length && behind.length > 0) old.push(behind.pop());
    for (const [index, item] of value.entries()) old[index] = this.value(type.element, old[index], item);
    while (old.length > value.length) behind.push(old.pop());
    if (behind.length > 0) this.#behind.set(old, behind);
    return old;
  }

  #null(scalar: ScalarName, old: unknown, pointer: boolean): unknown {
    if (pointer || old === undefined || UNSET_BY_NULL.has(scalar)) return null;
    // It becomes a number, of which a text leaves nothing.
    if (scalar === 'intOrString' && typeof old === 'string') return 0;
    return old;
  }

  #scalar(scalar: ScalarName, value: unknown): unknown {
    if (!SCHEMAS.has(scalar)) return value;
    if (Array.isArray(value)) return value.map((item) => this.#scalar(scalar, item));
    return isJsonObject(value) ? this.#struct(schemaProps(), undefined, value) : value;
  }

  #members(value: Record<string, unknown>): Iterable<readonly [string, unknown]> {
    return this.repeated.get(value) ?? Object.entries(value);
  }
}

const UNSET_BY_NULL: ReadonlySet<ScalarName> = new Set([
  'bytes',
  'quantity',
  'time',
  'microTime',
  'duration',
  'schemaOrArray',
  'schemaOrBool',
  'schemaOrStringArray',
]);

const SCHEMAS: ReadonlySet<ScalarName> = new Set(['schemaOrArray', 'schemaOrBool', 'schemaOrStringArray']);
