// Values to be found again without comparing with each of them: those that are equal have the same key. What has no key,
// as whether it is equal is its own affair, is compared with all.
import { CelList, CelMap, Uint, type Value } from '../value.js';
import { equalValues } from './equality.js';
import { checkCharacters } from './size-limits.js';

export class ValueIndex {
  /** Texts are their own keys: there may be many, and nothing else is equal to one. */
  readonly #texts = new Set<string>();
  readonly #byKey = new Map<string, Value[]>();
  readonly #others: Value[] = [];

  static of(values: Iterable<Value>): ValueIndex {
    const index = new ValueIndex();
    for (const value of values) index.add(value);
    return index;
  }

  add(value: Value): void {
    if (typeof value === 'string') {
      this.#texts.add(value);
      return;
    }
    const key = keyOf(value);
    const same = key === undefined ? this.#others : this.#byKey.get(key);
    if (same !== undefined) same.push(value);
    else if (key !== undefined) this.#byKey.set(key, [value]);
  }

  has(wanted: Value): boolean {
    if (typeof wanted === 'string') return this.#texts.has(wanted);
    const isWanted = (value: Value): boolean => equalValues(wanted, value) === true;
    if (this.#others.some(isWanted)) return true;
    const key = keyOf(wanted);
    if (key !== undefined) return this.#byKey.get(key)?.some(isWanted) ?? false;
    for (const values of this.#byKey.values()) if (values.some(isWanted)) return true;
    return false;
  }
}

function keyOf(value: Value): string | undefined {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value);
    case 'boolean':
      return String(value);
    case 'number':
    case 'bigint':
      return String(Number(value));
    default:
  }
  if (value === null) return 'null';
  if (value instanceof Uint) return String(Number(value.value));
  if (value instanceof CelList && value.equal === CelList.prototype.equal) return listKey(value);
  if (value instanceof CelMap && value.equal === CelMap.prototype.equal) return mapKey(value);
  return undefined;
}

function listKey(list: CelList): string | undefined {
  const keys: string[] = [];
  let characters = 0;
  for (const item of list) {
    const key = keyOf(item);
    if (key === undefined) return undefined;
    characters += key.length;
    checkCharacters(characters);
    keys.push(key);
  }
  return `[${keys.join()}]`;
}

function mapKey(map: CelMap): string | undefined {
  const keys: string[] = [];
  let characters = 0;
  for (const name of map.keys()) {
    const [key, value] = [keyOf(name), keyOf(map.find(name) ?? null)];
    if (key === undefined || value === undefined) return undefined;
    characters += key.length + value.length;
    checkCharacters(characters);
    keys.push(`${key}:${value}`);
  }
  return `{${keys.sort().join()}}`;
}
