import { isPlainObject } from '../../lib/values/plain-object.js';
import { MAX_CHARACTERS_OF_ONE, sharedFields } from '../shared-fields.js';
import { fieldSetText } from './encode.js';

/** The tree that all field sets share which are encoded as this one; a large one is an object's own. */
// hot: on every write, for every manager that a client sends. To look into a set costs far more than to find it again.
export function sharedTree(tree: unknown): unknown {
  if (!isPlainObject(tree)) return tree;
  const text = fieldSetText(tree);
  return text.length > MAX_CHARACTERS_OF_ONE ? tree : sharedFields(text);
}
