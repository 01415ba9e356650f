// A large field set in its wire form (FieldsV1) that nobody has looked into: a text that looks like its tree, and is read
// on first access. To list a hundred thousand members of one map costs the engine a tenth of a second in one call, and
// whoever passes an object on, copies or encodes it needs the text only.
import type { JsonObject } from '../machinery/object.js';
import { sharedText } from './shared-fields.js';

const sets = new WeakMap<object, LazyFields>();

/** The tree of a text that this program has encoded. It is not to be changed. */
export function lazyFields(text: string): JsonObject {
  const unread = new LazyFields(text);
  const tree = new Proxy<JsonObject>({}, unread);
  sets.set(tree, unread);
  return tree;
}

/** The text of a tree that is shared or unread; undefined for any other. */
export const fieldsText = (tree: object): string | undefined => sharedText(tree) ?? sets.get(tree)?.text;

/** The tree itself, for who walks through it. */
export const readFields = (tree: Readonly<JsonObject>): Readonly<JsonObject> => sets.get(tree)?.read() ?? tree;

class LazyFields implements ProxyHandler<JsonObject> {
  #tree: JsonObject | undefined;

  constructor(readonly text: string) {}

  read(): JsonObject {
    return (this.#tree ??= JSON.parse(this.text) as JsonObject);
  }

  get(_target: JsonObject, name: string | symbol): unknown {
    return Reflect.get(this.read(), name);
  }

  has(_target: JsonObject, name: string | symbol): boolean {
    return Reflect.has(this.read(), name);
  }

  ownKeys(): (string | symbol)[] {
    return Reflect.ownKeys(this.read());
  }

  getOwnPropertyDescriptor(_target: JsonObject, name: string | symbol): PropertyDescriptor | undefined {
    return Reflect.getOwnPropertyDescriptor(this.read(), name);
  }

  defineProperty(): boolean {
    return false;
  }

  deleteProperty(): boolean {
    return false;
  }
}
