// A patch as part of an event. The reference loses the event of a patch that is no JSON (an apply in YAML); who leaves
// no trace that way is just whom an audit is for, so here YAML is turned into JSON, and what is neither is kept as text.
import { encodeTree } from '../schema/json/encode.js';
import { parseJsonTree } from '../schema/json/decode.js';
import { DecodeError } from '../schema/json/decode.js';
import { quoteJson } from '../schema/json/quote.js';
import { parseYaml } from '../schema/yaml/parse.js';

export function patchJson(patch: Buffer): string {
  const tree = treeOf(patch);
  return tree === undefined ? quoteJson(patch.toString('utf8')) : encodeTree(tree.value, 'asIs');
}

function treeOf(patch: Buffer): { readonly value: unknown } | undefined {
  for (const parse of [parseJsonTree, parseYaml]) {
    try {
      return parse(patch);
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error;
    }
  }
  return undefined;
}
