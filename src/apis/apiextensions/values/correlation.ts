// Which old value a value of an updated object had: by name in objects and maps, by key in lists that have keys. What
// cannot be distinguished has no old value. Errors about values that did not change are forgiven.
import { isDeepStrictEqual } from 'node:util';
import { isPlainObject } from '../../../lib/values/plain-object.js';
import { type Schema, additionalOf, itemsOf } from '../schema-walk.js';

export class Correlation {
  private same: boolean | undefined;
  private oldItems: KeyedItems | undefined;
  private readonly children = new Map<string | number, Correlation>();

  constructor(
    private readonly value: unknown,
    private readonly old: unknown,
    private readonly schema: Schema,
  ) {}

  /** The value is what it was. */
  isUnchanged(): boolean {
    this.same ??= this.compare();
    return this.same;
  }

  /** A member that both have and the schema knows. */
  member(name: string): Correlation | undefined {
    const { value, old, schema } = this;
    const known = this.children.get(name);
    if (known !== undefined) return known;
    if (!isPlainObject(value) || !isPlainObject(old)) return undefined;
    if (!Object.hasOwn(value, name) || !Object.hasOwn(old, name)) return undefined;
    const properties = schema.properties ?? {};
    const inner = Object.hasOwn(properties, name) ? properties[name] : additionalOf(schema);
    return inner && this.keep(name, new Correlation(value[name], old[name], inner));
  }

  item(index: number): Correlation | undefined {
    const { value, old, schema } = this;
    const known = this.children.get(index);
    if (known !== undefined) return known;
    const items = itemsOf(schema);
    if (!Array.isArray(value) || !Array.isArray(old) || items === undefined || index >= value.length) return undefined;
    if (schema['x-kubernetes-list-type'] !== 'map') return undefined;
    this.oldItems ??= new KeyedItems(schema, old);
    const before = this.oldItems.find(value[index]);
    return before === undefined ? undefined : this.keep(index, new Correlation(value[index], before, items));
  }

  private keep(at: string | number, child: Correlation): Correlation {
    this.children.set(at, child);
    return child;
  }

  private compare(): boolean {
    const { value, old } = this;
    if (Array.isArray(value) && Array.isArray(old)) {
      if (value.length !== old.length) return false;
      for (const [i] of value.entries()) {
        const child = this.item(i);
        // A list without keys is one value.
        if (child === undefined) return this.oldItems === undefined && isDeepStrictEqual(value, old);
        if (!child.isUnchanged()) return false;
      }
      return true;
    }
    if (isPlainObject(value) && isPlainObject(old)) {
      const names = Object.keys(value);
      if (names.length !== Object.keys(old).length) return false;
      return names.every((name) => this.member(name)?.isUnchanged() === true);
    }
    return isDeepStrictEqual(value, old);
  }
}

/** The items of a list with keys, found by the keys of another item. */
export class KeyedItems {
  private readonly byKey = new Map<string, unknown>();
  private readonly keys: readonly string[];

  constructor(schema: Schema, items: unknown) {
    const hasKeys = schema.type === 'array' && schema['x-kubernetes-list-type'] === 'map';
    this.keys = hasKeys ? (schema['x-kubernetes-list-map-keys'] ?? []) : [];
    if (this.keys.length === 0 || !Array.isArray(items)) return;
    for (const item of items) {
      const key = this.keyOf(item);
      if (key !== undefined && !this.byKey.has(key)) this.byKey.set(key, item);
    }
  }

  find(item: unknown): unknown {
    if (this.byKey.size === 0) return undefined;
    const key = this.keyOf(item);
    return key === undefined ? undefined : this.byKey.get(key);
  }

  private keyOf(item: unknown): string | undefined {
    if (!isPlainObject(item)) return undefined;
    const parts: string[] = [];
    for (const key of this.keys) {
      const part = item[key];
      if (part === undefined || part === null || typeof part === 'object') return undefined;
      parts.push(`${typeof part} ${String(part as string)}`);
    }
    return parts.join('\0');
  }
}
