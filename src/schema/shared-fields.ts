// Field sets in their wire form (FieldsV1), each kept once. Objects that one program writes own the same fields: of ten
// thousand pods there are a few sets, and each would be parsed, copied and encoded with every write.
//
//   text  {"f:data":{".":{},"f:a":{}}}  →  one frozen tree, and from the tree back to its text
import type { JsonObject } from '../machinery/object.js';

/** Longer ones are an object's own, and belong to the caller. */
export const MAX_CHARACTERS_OF_ONE = 16 * 1024;
/** When the texts have more characters all are forgotten, which costs each set a parse. */
const MAX_CHARACTERS = 1024 * 1024;

const trees = new Map<string, JsonObject>();
const texts = new WeakMap<object, string>();
let characters = 0;

/** The tree of a text if that is shared already. It is not to be changed. */
// hot: for every manager of an object that comes in protobuf.
export const knownFields = (text: string): JsonObject | undefined => trees.get(text);

/** The tree of a text that has Go's encoding. It is not to be changed. */
// hot: on every write, for every manager.
export function sharedFields(text: string): JsonObject {
  const known = trees.get(text);
  if (known !== undefined) return known;
  const tree = JSON.parse(text) as JsonObject;
  if (text.length > MAX_CHARACTERS_OF_ONE) return tree;
  // A copy: part of a longer text would keep all of it.
  const own = Buffer.from(text).toString();
  characters += own.length;
  if (characters > MAX_CHARACTERS) {
    trees.clear();
    characters = own.length;
  }
  trees.set(own, freeze(tree));
  texts.set(tree, own);
  return tree;
}

/** The text of a tree that is shared; undefined for any other. */
export const sharedText = (tree: object): string | undefined => texts.get(tree);

function freeze(tree: JsonObject): JsonObject {
  for (const key in tree) {
    const member = tree[key];
    // A client may send what is no set.
    if (typeof member === 'object' && member !== null) freeze(member as JsonObject);
  }
  return Object.freeze(tree);
}
