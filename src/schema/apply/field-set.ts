// A set of paths into an object: which fields someone owns.
//
//   {f:metadata: {f:labels: {".": {}, "f:app": {}}}}      the wire form (FieldsV1)
//
//   f:metadata                     not a member itself
//   └─ f:labels        member      (the "." of the wire form)
//      └─ f:app        member      (an empty object)
//
// Sets are built by insert() while they are new and shared afterwards: all other operations answer new sets, or one of
// those that they were given.
import type { JsonObject } from '../../machinery/object.js';
import { type ResumableWalk, UNDIVIDED } from '../../lib/scheduling/resumable-walk.js';
import { boundedMemo } from '../../lib/values/bounded-memo.js';
import { quoteJson } from '../json/quote.js';
import { sharedFields, sharedText } from '../shared-fields.js';
import { readFields } from '../lazy-fields.js';
import { parseElement, sortElements, sortElementSteps } from './path-element.js';

interface Node {
  readonly member: boolean;
  /** Never an empty set. */
  readonly below: FieldSet | undefined;
}

/** What most nodes are, so one for all. */
const LEAF: Node = { member: true, below: undefined };

/** The wire form of a leaf. */
const NOTHING_BELOW: JsonObject = Object.freeze({});

/** Of most managers of most objects. */
const FEW = 512;

/** So many steps are worked on in a few milliseconds. */
const MANY = 4096;

/** The wire form of a set. */
interface Encoded {
  readonly fields: Readonly<JsonObject>;
  /** Those of `fields`. */
  readonly keys: readonly string[];
  /** Where the set lies in another: if it turns out to be empty, it is a leaf of that one. */
  readonly within?: { readonly outer: FieldSet; readonly element: string };
}

export class FieldSet {
  /** Of a set that many objects have. */
  #encoded: JsonObject | undefined;
  #isLarge: boolean | undefined;

  constructor(private readonly nodes = new Map<string, Node>()) {}

  static of(...paths: readonly (readonly string[])[]): FieldSet {
    const set = new FieldSet();
    for (const path of paths) set.insert(path);
    return set;
  }

  /** Reads the wire form, one that is shared once. Throws when a key is no step. */
  static decode(encoded: Readonly<JsonObject>, resumable: ResumableWalk = UNDIVIDED): FieldSet {
    const fields = readFields(encoded);
    const known = decoded.get(fields);
    if (known !== undefined) return known;
    if (sharedText(fields) !== undefined) return FieldSet.decodeShared(fields);
    const set = new FieldSet();
    set.decodeFrom({ fields, keys: resumable.names(fields) }, resumable);
    return set;
  }

  private static decodeShared(fields: Readonly<JsonObject>): FieldSet {
    const set = new FieldSet();
    set.decodeFrom({ fields, keys: Object.keys(fields) }, UNDIVIDED);
    // Others may have written it in another order.
    if (JSON.stringify(set.encode()) === JSON.stringify(fields)) set.#encoded = fields;
    decoded.set(fields, set);
    return set;
  }

  private decodeFrom(encoded: Encoded, resumable: ResumableWalk, from = 0): void {
    const { fields, keys, within } = encoded;
    for (let at = from; at < keys.length; at++) {
      if (!resumable.withinBudget()) return resumable.defer(() => this.decodeFrom(encoded, resumable, at));
      const key = keys[at] as string;
      const element = key === '.' ? undefined : parseElement(key);
      if (element === undefined) continue;
      const inner = fields[key] as JsonObject;
      const innerKeys = typeof inner === 'object' && inner !== null ? resumable.names(inner) : [];
      if (innerKeys.length === 0) {
        this.nodes.set(element, LEAF);
        continue;
      }
      const below = new FieldSet();
      this.nodes.set(element, { member: Object.hasOwn(inner, '.'), below });
      below.decodeFrom({ fields: inner, keys: innerKeys, within: { outer: this, element } }, resumable);
    }
    if (within !== undefined && this.empty) within.outer.nodes.set(within.element, LEAF);
  }

  /** The wire form, with its keys in kube-apiserver's order. It is not to be changed. */
  // hot: on every write.
  encode(resumable: ResumableWalk = UNDIVIDED): JsonObject {
    return this.#encoded ?? this.encodeInto({}, resumable);
  }

  /** As encode(), and shared with all objects of which somebody owns the same; a large set is an object's own. */
  // hot: on every write, for every manager.
  encodeShared(resumable: ResumableWalk): JsonObject {
    if (this.#encoded !== undefined || this.count(FEW) > FEW) return this.encode(resumable);
    const shared = sharedFields(this.text(false));
    if (sharedText(shared) === undefined) return shared;
    this.#encoded = shared;
    if (!decoded.has(shared)) decoded.set(shared, this);
    return shared;
  }

  /** The wire form as it is encoded. `member`: the step that it lies below is a member itself. */
  private text(member: boolean): string {
    let text = member ? '{".":{}' : '';
    for (const element of this.sorted()) {
      const { member: isMember, below } = this.nodes.get(element) as Node;
      text += `${text === '' ? '{' : ','}${quotedElement(element)}:${below === undefined ? '{}' : below.text(isMember)}`;
    }
    return text === '' ? '{}' : `${text}}`;
  }

  private encodeInto(fields: JsonObject, resumable: ResumableWalk): JsonObject {
    if (this.nodes.size <= MANY || resumable === UNDIVIDED) this.encodeAll(this.sorted(), fields, resumable, 0);
    else
      resumable.run(sortElementSteps([...this.nodes.keys()]), (sorted) => this.encodeAll(sorted, fields, resumable, 0));
    return fields;
  }

  private encodeAll(elements: readonly string[], fields: JsonObject, resumable: ResumableWalk, from: number): void {
    for (let at = from; at < elements.length; at++) {
      if (!resumable.withinBudget()) return resumable.defer(() => this.encodeAll(elements, fields, resumable, at));
      const element = elements[at] as string;
      const { member, below } = this.nodes.get(element) as Node;
      fields[element] = below === undefined ? NOTHING_BELOW : below.encodeInto(member ? { '.': {} } : {}, resumable);
    }
  }

  get empty(): boolean {
    return this.nodes.size === 0;
  }

  /** Only while the set is being built. The empty path is nowhere. */
  // hot: once for each field of a created object.
  insert(path: readonly string[], depth = 0): void {
    if (path.length === 0) return;
    const element = path[depth] as string;
    const node = this.nodes.get(element);
    if (depth === path.length - 1) {
      if (node === undefined) this.nodes.set(element, LEAF);
      else if (!node.member) this.nodes.set(element, { member: true, below: node.below });
      return;
    }
    this.belowToFill(element, node).insert(path, depth + 1);
  }

  private belowToFill(element: string, node = this.nodes.get(element)): FieldSet {
    if (node?.below !== undefined) return node.below;
    const below = new FieldSet();
    this.nodes.set(element, { member: node?.member === true, below });
    return below;
  }

  has(path: readonly string[]): boolean {
    const [element, ...rest] = path;
    if (element === undefined) return false;
    return rest.length === 0 ? this.hasMember(element) : this.below(element).has(rest);
  }

  hasMember(element: string): boolean {
    return this.nodes.get(element)?.member === true;
  }

  *members(): Generator<string> {
    for (const [element, { member }] of this.nodes) if (member) yield element;
  }

  below(element: string): FieldSet {
    return this.nodes.get(element)?.below ?? NOTHING;
  }

  union(other: FieldSet): FieldSet {
    if (other.empty) return this;
    if (this.empty) return other;
    const result = this.copy();
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

  /** Whether all members of `other` are members here. */
  includes(other: FieldSet): boolean {
    for (const [element, { member, below }] of other.nodes) {
      const mine = this.nodes.get(element);
      if (mine === undefined || (member && !mine.member)) return false;
      if (below !== undefined && !(mine.below ?? NOTHING).includes(below)) return false;
    }
    return true;
  }

  intersection(other: FieldSet): FieldSet {
    if (other.nodes.size < this.nodes.size) return other.intersection(this);
    let result: FieldSet | undefined;
    for (const [element, { member, below }] of this.nodes) {
      const theirs = other.nodes.get(element);
      if (theirs === undefined) continue;
      const both = below === undefined || theirs.below === undefined ? NOTHING : below.intersection(theirs.below);
      const isMember = member && theirs.member;
      if (isMember || !both.empty) (result ??= new FieldSet()).put(element, isMember, both);
    }
    return result ?? NOTHING;
  }

  /** Without the members of `other`; what lies below such a member stays. */
  difference(other: FieldSet): FieldSet {
    if (other.empty || this.empty) return this;
    let result: FieldSet | undefined;
    for (const [element, node] of this.nodes) {
      const theirs = other.nodes.get(element);
      if (theirs === undefined) continue;
      const member = node.member && !theirs.member;
      const below = node.below?.difference(theirs.below ?? NOTHING);
      if (member !== node.member || below !== node.below) (result ??= this.copy()).replace(element, member, below);
    }
    return result ?? this;
  }

  /** Without the members of `other` and all below them. */
  recursiveDifference(other: FieldSet): FieldSet {
    if (other.empty || this.empty) return this;
    let result: FieldSet | undefined;
    for (const [element, node] of this.nodes) {
      const theirs = other.nodes.get(element);
      if (theirs === undefined) continue;
      const member = node.member && !theirs.member;
      const below = theirs.member ? undefined : node.below?.recursiveDifference(theirs.below ?? NOTHING);
      if (member !== node.member || below !== node.below) (result ??= this.copy()).replace(element, member, below);
    }
    return result ?? this;
  }

  /** Changes the steps that have others below them; `change` answers whether one is a member and what lies below. */
  map(
    change: (element: string, member: boolean, below: FieldSet) => readonly [member: boolean, below: FieldSet],
  ): FieldSet {
    let changed: Map<string, readonly [boolean, FieldSet]> | undefined;
    for (const [element, { member, below }] of this.nodes) {
      if (below === undefined) continue;
      const after = change(element, member, below);
      if (after[0] !== member || after[1] !== below) (changed ??= new Map()).set(element, after);
    }
    if (changed === undefined) return this;
    const result = new FieldSet();
    for (const [element, node] of this.nodes) {
      const after = changed.get(element);
      if (after === undefined) result.nodes.set(element, node);
      else result.put(element, ...after);
    }
    return result;
  }

  get isLarge(): boolean {
    return (this.#isLarge ??= this.count(MANY) > MANY);
  }

  /** All its steps, or some number above `most`. */
  private count(most: number): number {
    let count = this.nodes.size;
    if (count > most) return count;
    for (const { below } of this.nodes.values()) {
      if (below === undefined) continue;
      count += below.count(most - count);
      if (count > most) break;
    }
    return count;
  }

  /** Small sets with no path in common that together are this one. */
  *pieces(): Generator<FieldSet> {
    let piece = new FieldSet();
    let count = 0;
    function* cut(set: FieldSet, path: readonly string[]): Generator<FieldSet> {
      let into: FieldSet | undefined;
      for (const [element, node] of set.nodes) {
        const { member, below } = node;
        if (below !== undefined && below.isLarge) {
          if (member) piece.insert([...path, element]);
          yield* cut(below, [...path, element]);
          into = undefined;
          continue;
        }
        into ??= path.reduce((outer, step) => outer.belowToFill(step), piece);
        into.nodes.set(element, node);
        count += 1 + (below?.count(MANY) ?? 0);
        if (count < MANY) continue;
        yield piece;
        piece = new FieldSet();
        count = 0;
        into = undefined;
      }
    }
    yield* cut(this, []);
    if (!piece.empty) yield piece;
  }

  /** Only while the set is being built: adds all of `other`, which stays as it is. */
  absorb(other: FieldSet): void {
    for (const [element, node] of other.nodes) {
      const mine = this.nodes.get(element);
      if (mine === undefined) this.nodes.set(element, node);
      else
        this.nodes.set(element, { member: mine.member || node.member, below: FieldSet.grown(mine.below, node.below) });
    }
  }

  /** The earlier set itself where it is the same, for its wire form need not be made anew. Large ones are not compared. */
  // hot: mostly it is that set already.
  orSame(earlier: FieldSet | undefined): FieldSet {
    if (earlier === undefined || earlier === this || earlier.isLarge) return this;
    return this.equals(earlier) ? earlier : this;
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
    if (kept !== undefined) this.nodes.set(element, { member, below: kept });
    else if (member) this.nodes.set(element, LEAF);
  }

  private replace(element: string, member: boolean, below: FieldSet | undefined): void {
    if (member || below?.empty === false) this.put(element, member, below);
    else this.nodes.delete(element);
  }

  private copy(): FieldSet {
    return new FieldSet(new Map(this.nodes));
  }

  private sorted(): string[] {
    return sortElements([...this.nodes.keys()]);
  }

  /** Both together; what was made here before is added to, as pieces of one set come one after another. */
  private static grown(mine: FieldSet | undefined, theirs: FieldSet | undefined): FieldSet | undefined {
    if (mine === undefined || theirs === undefined) return mine ?? theirs;
    let result = mine;
    if (!grownSets.has(mine)) {
      result = new FieldSet();
      grownSets.add(result);
      result.absorb(mine);
    }
    result.absorb(theirs);
    return result;
  }
}

const NOTHING = new FieldSet();

/** The names of fields, and the keys of items, are the same in most objects. */
const quotedElement = boundedMemo(4096, quoteJson);

/** By their wire form, which is shared. */
const decoded = new WeakMap<object, FieldSet>();

/** Those that belong to the set they are in, which is still being built. */
const grownSets = new WeakSet<FieldSet>();
