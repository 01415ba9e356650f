// Whether the pages of the store's trees are sound. The engine maps the file and trusts it: at a page that was overwritten it
// would end the process in an assertion, read beyond the page, or leave keys out.
//
//   meta page    two trees: of free pages, and of names; each has its depth, how many pages and entries it has, and the
//                number of its topmost page
//   branch       24 bytes of head, offsets of its nodes, nodes: page below, key
//   leaf         the same; nodes: size of the value, kind, size of the key, key, value. The value of a node of the tree of names
//                is the head of the tree that it names; one that is too large for the page stands on pages of its own
//
// Looked at are: that each page says its own number and kind, and a commit that was, that its nodes fill it without a gap and
// are in the order of their keys, that no page is used twice, or is in the list of those that may be written, and that each tree has as many pages and
// entries as its head says. What the values hold is not looked at.
import fs from 'node:fs';
import type { MetaPage } from './meta-page.js';
import { addKey } from './state.js';

const NO_BYTES = Buffer.alloc(0);
const HEAD_BYTES = 24;
const NODE_HEAD_BYTES = 8;
const BRANCH = 0x01;
const LEAF = 0x02;
const OVERFLOW = 0x04;
/** Kinds of nodes: the value is on pages of its own, or is the head of a tree. */
const BIG_VALUE = 0x01;
const SUB_TREE = 0x02;
const BIG_VALUE_BYTES = 24;
/** What no count and no number of a page reaches. */
const TOO_MANY = 2 ** 48;
const FREE_TREE_OFFSET = 0x30;
const NAMES_TREE_OFFSET = 0x60;
const TREE_BYTES = 48;
/** The engine's limits. */
const MAX_DEPTH = 32;
const MAX_KEY_BYTES = 2_048;
/** A start must not wait for a store of many gigabytes to be read: of such a one the leaves are left out. */
const MAX_START_PAGES = 250_000;

export interface PagesFound {
  /** What is wrong, if anything is. */
  readonly damage?: string;
  /** The keys of each tree, by its name; absent of a tree whose leaves were left out. */
  readonly trees: ReadonlyMap<string, KeysFound>;
}

export interface KeysFound {
  readonly count: number;
  /** Of their hashes. */
  readonly keySum: number;
}

/** `meta` is the newest meta page of the file. */
export function checkPages(fd: number, meta: MetaPage, maxPages = MAX_START_PAGES): PagesFound {
  const walk = new PageWalk(fd, meta, maxPages);
  try {
    walk.run(meta.bytes);
    return { trees: walk.trees };
  } catch (error) {
    if (error instanceof Unsound) return { damage: error.message, trees: walk.trees };
    throw error;
  }
}

class Unsound extends Error {}

interface Tree {
  readonly kind: 'free' | 'names' | 'data';
  readonly flags: number;
  readonly depth: number;
  readonly branchPages: number;
  readonly leafPages: number;
  readonly overflowPages: number;
  readonly entries: number;
  /** Undefined of an empty tree. */
  readonly root: number | undefined;
}

/** What was found of a tree. */
class Found {
  branchPages = 0;
  leafPages = 0;
  overflowPages = 0;
  entries = 0;
  keySum = 0;
  /** Keys grow from leaf to leaf, and those of branches say where the leaves below begin. */
  #last: Buffer = NO_BYTES;
  #lastFrom = 0;
  #lastTo = 0;
  #hasLast = false;
  #lastWasEntry = false;

  constructor(readonly tree: Tree) {}

  /** An entry comes after the one before, and after or at the key of the branch above. */
  follows(bytes: Buffer, from: number, to: number, isEntry: boolean): boolean {
    const order = this.#hasLast ? this.#compare(bytes, from, to) : -1;
    if (order > 0 || (order === 0 && this.#lastWasEntry)) return false;
    this.#last = bytes;
    this.#lastFrom = from;
    this.#lastTo = to;
    this.#hasLast = true;
    this.#lastWasEntry = isEntry;
    return true;
  }

  /** Before the page that the last key stands on is read over. */
  keepLast(): void {
    this.#last = Buffer.from(this.#last.subarray(this.#lastFrom, this.#lastTo));
    this.#lastTo -= this.#lastFrom;
    this.#lastFrom = 0;
  }

  /** The tree of free pages has numbers for keys, the machine's own; the others sort by bytes. */
  #compare(bytes: Buffer, from: number, to: number): number {
    if (this.tree.kind === 'free')
      return to - from === 8 ? longAt(this.#last, this.#lastFrom) - longAt(bytes, from) : 1;
    const shorter = Math.min(this.#lastTo - this.#lastFrom, to - from);
    // By hand: keys are short, and calling out of JavaScript for each takes longer.
    for (let at = 0; at < shorter; at++) {
      const difference = (this.#last[this.#lastFrom + at] ?? 0) - (bytes[from + at] ?? 0);
      if (difference !== 0) return difference;
    }
    return this.#lastTo - this.#lastFrom - (to - from);
  }
}

interface Leaf {
  readonly page: number;
  readonly bytes: Buffer;
}

class PageWalk {
  readonly trees = new Map<string, KeysFound>();
  readonly #pageSize: number;
  readonly #lastPage: number;
  /** Pages that the file has whole: the engine counts a page that it has taken and not written yet. */
  readonly #filePages: number;
  readonly #transaction: number;
  readonly #readsLeaves: boolean;
  /** A bit for each page. */
  readonly #used: Uint8Array;
  /** A buffer for each level of the tree of names and of one below. */
  readonly #buffers: Buffer[] = [];
  /** Lists of pages that are free, as they are found. */
  readonly #freePages: Buffer[] = [];
  /** Where nodes begin, of the page that is looked at. */
  readonly #starts: Uint8Array;

  constructor(
    private readonly fd: number,
    { pageSize, lastPage, transaction }: MetaPage,
    maxPages: number,
  ) {
    this.#pageSize = pageSize;
    this.#lastPage = lastPage;
    this.#filePages = Math.floor(fs.fstatSync(fd).size / pageSize);
    this.#transaction = transaction;
    this.#readsLeaves = this.#lastPage < maxPages;
    this.#used = new Uint8Array((this.#lastPage >> 3) + 1);
    this.#starts = new Uint8Array(pageSize);
  }

  run(meta: Buffer): void {
    this.#tree(treeAt(meta, NAMES_TREE_OFFSET, 'names'), '', 0);
    this.#tree(treeAt(meta, FREE_TREE_OFFSET, 'free'), '', 0);
    for (const list of this.#freePages) this.#useFree(list);
  }

  #tree(tree: Tree, name: string, level: number): void {
    if (tree.kind === 'data' && tree.flags !== 0) throw new Unsound('a tree sorts its keys in another order');
    if (tree.root === undefined) {
      if (tree.entries !== 0 || tree.depth !== 0) throw new Unsound('a tree has no pages, and entries');
      this.trees.set(name, { count: 0, keySum: 0 });
      return;
    }
    if (tree.depth < 1 || tree.depth > MAX_DEPTH) throw new Unsound(`a tree is ${tree.depth} pages deep`);
    const found = new Found(tree);
    this.#page(found, tree.root, tree.depth, level);
    const isWhole =
      found.branchPages === tree.branchPages &&
      (!this.#readsLeaves ||
        (found.leafPages === tree.leafPages &&
          found.overflowPages === tree.overflowPages &&
          found.entries === tree.entries));
    if (!isWhole) throw new Unsound(`the tree of page ${tree.root} has not as many pages or entries as it says`);
    if (this.#readsLeaves) this.trees.set(name, { count: found.entries, keySum: found.keySum });
  }

  #page(found: Found, page: number, depth: number, level: number): void {
    this.#useWritten(page);
    const isLeaf = depth === 1;
    if (isLeaf && !this.#readsLeaves && found.tree.kind === 'data') return;
    if (isLeaf) found.leafPages++;
    else found.branchPages++;
    const bytes = this.#buffer(level);
    this.#read(page, isLeaf ? LEAF : BRANCH, bytes);
    this.#checkNodes(page, bytes, isLeaf);
    const leaf = { page, bytes };
    const end = HEAD_BYTES + bytes.readUInt16LE(20);
    for (let offset = HEAD_BYTES; offset < end; offset += 2) {
      const at = HEAD_BYTES + bytes.readUInt16LE(offset);
      if (isLeaf) {
        this.#entry(found, leaf, at, level);
        continue;
      }
      const key = at + NODE_HEAD_BYTES;
      // The first has no key: what is below begins where the branch does.
      const isInOrder = offset === HEAD_BYTES || found.follows(bytes, key, key + bytes.readUInt16LE(at + 6), false);
      if (!isInOrder) throw notAsItWas(page);
      this.#page(found, bytes.readUIntLE(at, 6), depth - 1, level + 1);
    }
    if (isLeaf) found.keepLast();
  }

  /** Nodes fill the page from `upper` to its end, in any order. */
  #checkNodes(page: number, bytes: Buffer, isLeaf: boolean): void {
    // Both count from the end of the head, as the offsets of nodes do.
    const lower = bytes.readUInt16LE(20);
    const upper = bytes.readUInt16LE(22);
    if (lower === 0 || lower > upper || lower % 2 !== 0 || HEAD_BYTES + upper > bytes.length) throw notAsItWas(page);
    const starts = this.#starts.fill(0);
    for (let at = HEAD_BYTES; at < HEAD_BYTES + lower; at += 2) {
      const start = HEAD_BYTES + bytes.readUInt16LE(at);
      if (start < bytes.length) starts[start] = 1;
    }
    let count = 0;
    let at = HEAD_BYTES + upper;
    for (; at + NODE_HEAD_BYTES <= bytes.length && starts[at] === 1; count++) {
      const keyBytes = bytes.readUInt16LE(at + 6);
      if (keyBytes > MAX_KEY_BYTES) throw notAsItWas(page);
      const size = NODE_HEAD_BYTES + keyBytes + (isLeaf ? valueBytes(bytes, at) : 0);
      // Nodes begin at even places.
      at += size + (size % 2);
    }
    if (at !== bytes.length || count !== lower / 2) throw notAsItWas(page);
  }

  #entry(found: Found, { page, bytes }: Leaf, at: number, level: number): void {
    const { kind } = found.tree;
    const flags = bytes.readUInt16LE(at + 4);
    const key = at + NODE_HEAD_BYTES;
    const value = key + bytes.readUInt16LE(at + 6);
    const size = bytes.readUInt32LE(at);
    const isOfItsTree = kind === 'names' ? flags === SUB_TREE && size === TREE_BYTES : (flags & ~BIG_VALUE) === 0;
    if (!isOfItsTree || !found.follows(bytes, key, value, true)) throw notAsItWas(page);
    found.entries++;
    found.keySum = addKey(found.keySum, bytes, key, value);
    let first = 0;
    if (flags === BIG_VALUE) {
      first = longAt(bytes, value);
      const pages = this.#useOverflow(first, size);
      if (longAt(bytes, value + 16) !== pages) throw notAsItWas(page);
      found.overflowPages += pages;
    }
    if (kind === 'names') {
      const name = bytes.toString('latin1', key, value).replace(/\0$/, '');
      this.#tree(treeAt(bytes, value, 'data'), name, level + 1);
    }
    if (kind !== 'free') return;
    const list = Buffer.alloc(size);
    if (first > 0) this.#readAt(first * this.#pageSize + HEAD_BYTES, list);
    else bytes.copy(list, 0, value, value + size);
    this.#freePages.push(list);
  }

  /** The pages of a large value: only the first has a head. */
  #useOverflow(first: number, size: number): number {
    const count = Math.floor((HEAD_BYTES - 1 + size) / this.#pageSize) + 1;
    for (let page = first; page < first + count; page++) this.#useWritten(page);
    const head = Buffer.allocUnsafe(HEAD_BYTES);
    this.#read(first, OVERFLOW, head);
    if (head.readUInt32LE(20) !== count) throw notAsItWas(first);
    return count;
  }

  /**
   * A list of free pages: how many entries, then the entries. One below zero says how many pages in a row begin at the next;
   * a zero says nothing.
   */
  #useFree(list: Buffer): void {
    const count = list.length < 8 ? TOO_MANY : longAt(list, 0);
    if ((count + 1) * 8 > list.length) throw new Unsound('a list of free pages is not what it was');
    let length = 1;
    for (let at = 8; at <= count * 8; at += 8) {
      const entry = Number(list.readBigInt64LE(at));
      if (entry < 0) length = -entry;
      if (entry <= 0) continue;
      for (let page = entry; page < entry + length; page++) this.#use(page);
      length = 1;
    }
  }

  /** A page of a tree is in the file; a free one need not be. */
  #useWritten(page: number): void {
    if (page >= this.#filePages) throw new Unsound('the file ends too early');
    this.#use(page);
  }

  /** Each page has one place. */
  #use(page: number): void {
    if (page < 2 || page > this.#lastPage) throw new Unsound(`page ${page} is used, and not in the file`);
    const bit = 1 << (page & 7);
    const byte = this.#used[page >> 3] ?? 0;
    if ((byte & bit) !== 0) throw new Unsound(`page ${page} is used twice`);
    this.#used[page >> 3] = byte | bit;
  }

  #buffer(level: number): Buffer {
    return (this.#buffers[level] ??= Buffer.allocUnsafeSlow(this.#pageSize));
  }

  #read(page: number, kind: number, bytes: Buffer): void {
    this.#readAt(page * this.#pageSize, bytes);
    const isOfCommit = longAt(bytes, 8) <= this.#transaction;
    if (longAt(bytes, 0) !== page || bytes.readUInt16LE(18) !== kind || !isOfCommit) throw notAsItWas(page);
  }

  #readAt(position: number, bytes: Buffer): void {
    const read = fs.readSync(this.fd, bytes, 0, bytes.length, position);
    if (read < bytes.length) throw new Unsound('the file ends too early');
  }
}

const notAsItWas = (page: number): Unsound => new Unsound(`page ${page} is not what it was`);

/** A number of eight bytes. */
const longAt = (bytes: Buffer, at: number): number =>
  bytes.readUInt16LE(at + 6) === 0 ? bytes.readUIntLE(at, 6) : TOO_MANY;

const valueBytes = (bytes: Buffer, at: number): number =>
  (bytes.readUInt16LE(at + 4) & BIG_VALUE) === 0 ? bytes.readUInt32LE(at) : BIG_VALUE_BYTES;

const treeAt = (bytes: Buffer, at: number, kind: Tree['kind']): Tree => ({
  kind,
  flags: bytes.readUInt16LE(at + 4) | bytes.readUInt32LE(at),
  depth: bytes.readUInt16LE(at + 6),
  branchPages: longAt(bytes, at + 8),
  leafPages: longAt(bytes, at + 16),
  overflowPages: longAt(bytes, at + 24),
  entries: longAt(bytes, at + 32),
  root: bytes.readBigInt64LE(at + 40) === -1n ? undefined : longAt(bytes, at + 40),
});
