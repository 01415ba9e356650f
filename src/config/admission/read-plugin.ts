import { cannotUnmarshal } from '../../lib/go/json-kind.js';
import { isPlainObject } from '../../lib/values/plain-object.js';
import { DecodeError } from '../../schema/json/decode.js';
import { parseYaml } from '../../schema/yaml/parse.js';
import { ConfigError } from '../config-error.js';

/**
 * A plugin's configuration that has no kind: a tree of JSON or YAML. `type` is what Go calls what is wanted. Throws a
 * ConfigError.
 */
export function readTree(text: string, type = 'interface {}'): Readonly<Record<string, unknown>> {
  let tree: unknown;
  try {
    tree = parseYaml(text).value;
  } catch (error) {
    if (error instanceof DecodeError) throw new ConfigError(error.message);
    throw error;
  }
  if (tree === null) return {};
  if (isPlainObject(tree)) return tree;
  const why = cannotUnmarshal(tree, `Go value of type ${type}`);
  throw new ConfigError(`error unmarshaling JSON: while decoding JSON: ${why}`);
}

/** A member in any case, as Go's decoder finds it. */
export function memberOf(tree: Readonly<Record<string, unknown>>, name: string): unknown {
  if (Object.hasOwn(tree, name)) return tree[name];
  const found = Object.keys(tree).find((key) => key.toLowerCase() === name.toLowerCase());
  return found === undefined ? undefined : tree[found];
}
