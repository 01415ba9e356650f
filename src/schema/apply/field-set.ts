// A set of paths into an object: which fields someone owns.
//
//   {f:metadata: {f:labels: {".": {}, "f:app": {}}}}      the wire form (FieldsV1)
//
//   f:metadata                     not a member itself
//   └─ f:labels        member      (the "." of the wire form)
//      └─ f:app        member      (an empty object)
//
// Sets are built by insert() while they are new and shared afterwards: all other operations answer new sets.
import type { JsonObject } from '../../machinery/object.js';
import { compareElements, parseElement } from './path-element.js';

interface Node {
  member: boolean;
  /** Never an empty set. */
  below: FieldSet | undefined;
}

export class FieldSet {
  private readonly nodes = new Map<string, Node>();

  static of(...paths: readonly (readonly string[])[]): FieldSet {
    const set = new FieldSet();
    for (const path of paths) set.insert(path);
    return set;
  }

  /** Reads the wire form. Throws when a key is no step. */
  static decode(fields: Readonly<JsonObject>): FieldSet {
    const set = new FieldSet();
    for (const [key, value] of Object.entries(fields)) {
      if (key === '.') continue;
      const element = parseElement(key);
      if (element === undefined) continue;
      const inner = typeof value === 'object' && value !== null ? (value as JsonObject) : {};
      const below = FieldSet.decode(inner);
      set.nodes.set(element, {
        member: below.empty || Object.hasOwn(inner, '.'),
        below: below.empty ? undefined : below,
      });
    }
    return set;
  }

  /** The wire form, with its keys in the reference's order. */
  // hot: on every write.
  encode(): JsonObject {
    return this.encodeInto({});
  }

  private encodeInto(fields: JsonObject): JsonObject {
    for (const element of this.sorted()) {
      const { member, below } = this.nodes.get(element) as Node;
      fields[element] = below === undefined ? {} : below.encodeInto(member ? { '.': {} } : {});
    }
    return fields;
  }

  get empty(): boolean {
    return this.nodes.size === 0;
  }

  /** Only while the set is being built. The empty path is nowhere. */
  // hot: once for each field of a created object.
  insert(path: readonly string[], depth = 0): void {
    if (path.length === 0) return;
    const element = path[depth] as string;
    let node = this.nodes.get(element);
    if (node === undefined) {
      node = { member: false, below: undefined };
      this.nodes.set(element, node);
    }
    if (depth === path.length - 1) node.member = true;
    else (node.below ??= new FieldSet()).insert(path, depth + 1);
  }

  has(path: readonly string[]): boolean {
    const [element, ...rest] = path;
    if (element === undefined) return false;
    return rest.length === 0 ? this.hasMember(element) : this.below(element).has(rest);
  }

  hasMember(element: string): boolean {
    return this.nodes.get(element)?.member === true;
  }

  below(element: string): FieldSet {
    return this.nodes.get(element)?.below ?? NOTHING;
  }

  union(other: FieldSet): FieldSet {
    if (other.empty) return this;
    if (this.empty) return other;
    const result = new FieldSet();
    for (const [element, node] of this.nodes) result.nodes.set(element, node);
    for (const [element, node] of other.nodes) {
      const mine = this.nodes.get(element);
      if (mine === undefined) result.nodes.set(element, node);
      else {
        const below = mine.below === undefined ? node.below : mine.below.union(node.below ?? NOTHING);
        result.nodes.set(element, { member: mine.member || node.member, below });
      }
    }
    return result;
  }

  intersection(other: FieldSet): FieldSet {
    const result = new FieldSet();
    for (const [element, { member, below }] of this.nodes) {
      const theirs = other.nodes.get(element);
      if (theirs === undefined) continue;
      const both = below === undefined || theirs.below === undefined ? undefined : below.intersection(theirs.below);
      result.put(element, member && theirs.member, both);
    }
    return result;
  }

  /** Without the members of `other`; what lies below such a member stays. */
  difference(other: FieldSet): FieldSet {
    if (other.empty || this.empty) return this;
    const result = new FieldSet();
    for (const [element, node] of this.nodes) {
      const theirs = other.nodes.get(element);
      if (theirs === undefined) result.nodes.set(element, node);
      else result.put(element, node.member && !theirs.member, node.below?.difference(theirs.below ?? NOTHING));
    }
    return result;
  }

  /** Without the members of `other` and all below them. */
  recursiveDifference(other: FieldSet): FieldSet {
    if (other.empty || this.empty) return this;
    const result = new FieldSet();
    for (const [element, node] of this.nodes) {
      const theirs = other.nodes.get(element);
      if (theirs === undefined) result.nodes.set(element, node);
      else if (!theirs.member) {
        result.put(element, node.member, node.below?.recursiveDifference(theirs.below ?? NOTHING));
      }
    }
    return result;
  }

  /** Changes each step in turn; `change` answers whether it is a member and what lies below. */
  map(
    change: (element: string, member: boolean, below: FieldSet) => readonly [member: boolean, below: FieldSet],
  ): FieldSet {
    const result = new FieldSet();
    for (const [element, { member, below }] of this.nodes) {
      const [newMember, newBelow] = change(element, member, below ?? NOTHING);
      result.put(element, newMember, newBelow);
    }
    return result;
  }

  equals(other: FieldSet): boolean {
    if (this === other) return true;
    if (this.nodes.size !== other.nodes.size) return false;
    for (const [element, { member, below }] of this.nodes) {
      const theirs = other.nodes.get(element);
      if (theirs === undefined || theirs.member !== member) return false;
      if (!(below ?? NOTHING).equals(theirs.below ?? NOTHING)) return false;
    }
    return true;
  }

  /** All paths: at each level first its members, then what lies below, both in the order of steps. */
  *paths(prefix: readonly string[] = []): Generator<readonly string[]> {
    const elements = this.sorted();
    for (const element of elements) if (this.nodes.get(element)?.member) yield [...prefix, element];
    for (const element of elements) yield* this.below(element).paths([...prefix, element]);
  }

  private put(element: string, member: boolean, below: FieldSet | undefined): void {
    const kept = below === undefined || below.empty ? undefined : below;
    if (member || kept !== undefined) this.nodes.set(element, { member, below: kept });
  }

  private sorted(): string[] {
    return this.nodes.size < 2 ? [...this.nodes.keys()] : [...this.nodes.keys()].sort(compareElements);
  }
}

const NOTHING = new FieldSet();
