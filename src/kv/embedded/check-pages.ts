// Whether every page of the store's trees is where the page above it says, and of the right kind. The engine maps the
// file and trusts it: at a page that was overwritten it would end the process in an assertion of its own.
//
//   meta page    two trees: of free pages, and of names; each has its depth and the number of its topmost page
//   branch       24 bytes of head, offsets of its nodes, nodes; the first six bytes of a node are the page below
//   leaf         the same; a node of the tree of names holds the head of the tree that it names
import { append } from '../../lib/append.js';
import fs from 'node:fs';

const HEAD_BYTES = 24;
const NODE_HEAD_BYTES = 8;
const BRANCH = 0x01;
const LEAF = 0x02;
/** A node that holds the head of a tree. */
const SUB_TREE = 0x02;
const NO_PAGE = 2n ** 64n - 1n;
const FREE_TREE_OFFSET = 0x30;
const NAMES_TREE_OFFSET = 0x60;
/** Of a tree's head. */
const DEPTH_OFFSET = 6;
const ROOT_OFFSET = 40;
const TREE_BYTES = 48;
/** A start must not wait for a store of gigabytes to be read; pages near the roots come first. */
const MOST_CHECKED = 50_000;

interface Waiting {
  readonly page: bigint;
  /** Levels from here to the leaves; a leaf is at 1. */
  readonly depth: number;
  readonly isNames: boolean;
}

/** Undefined for a sound file; otherwise what is wrong with it. `meta` is its newest meta page. */
export function damagedPage(fd: number, meta: Buffer, pageSize: number, lastPage: bigint): string | undefined {
  const waiting = [...treeAt(meta, FREE_TREE_OFFSET, false), ...treeAt(meta, NAMES_TREE_OFFSET, true)];
  const bytes = Buffer.alloc(pageSize);
  for (let next = 0; next < waiting.length && next < MOST_CHECKED; next++) {
    const { page, depth, isNames } = waiting[next] as Waiting;
    const isLeaf = depth === 1;
    const wanted = isLeaf && !isNames ? HEAD_BYTES : pageSize;
    const read = page > lastPage ? 0 : fs.readSync(fd, bytes, 0, wanted, Number(page) * pageSize);
    const kind = bytes.readUInt16LE(18) & (BRANCH | LEAF);
    if (read < wanted || bytes.readBigUInt64LE(0) !== page || kind !== (isLeaf ? LEAF : BRANCH)) {
      return `page ${page} is not what it was`;
    }
    if (!isLeaf)
      append(
        waiting,
        pagesBelow(bytes).map((below) => ({ page: below, depth: depth - 1, isNames })),
      );
    else if (isNames) append(waiting, treesIn(bytes));
  }
  return undefined;
}

function treeAt(bytes: Buffer, offset: number, isNames: boolean): Waiting[] {
  const page = bytes.readBigUInt64LE(offset + ROOT_OFFSET);
  return page === NO_PAGE ? [] : [{ page, depth: bytes.readUInt16LE(offset + DEPTH_OFFSET), isNames }];
}

const pagesBelow = (bytes: Buffer): bigint[] =>
  nodesOf(bytes).map((at) => BigInt(bytes.readUInt32LE(at)) | (BigInt(bytes.readUInt16LE(at + 4)) << 32n));

const treesIn = (bytes: Buffer): Waiting[] =>
  nodesOf(bytes).flatMap((at) => {
    const tree = at + NODE_HEAD_BYTES + bytes.readUInt16LE(at + 6);
    const holdsTree = (bytes.readUInt16LE(at + 4) & SUB_TREE) !== 0 && tree + TREE_BYTES <= bytes.length;
    return holdsTree ? treeAt(bytes, tree, false) : [];
  });

/** Where the nodes of a page begin. Their offsets count from the end of the head. */
function nodesOf(bytes: Buffer): number[] {
  const end = Math.min(HEAD_BYTES + bytes.readUInt16LE(20), bytes.length);
  const nodes: number[] = [];
  for (let at = HEAD_BYTES; at + 2 <= end; at += 2) {
    const node = HEAD_BYTES + bytes.readUInt16LE(at);
    if (node + NODE_HEAD_BYTES <= bytes.length) nodes.push(node);
  }
  return nodes;
}
