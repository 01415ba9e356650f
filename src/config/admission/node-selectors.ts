import type { NodeSelectors } from '../../admission/plugins/pod-node-selector.js';
import { isPlainObject } from '../../lib/values/plain-object.js';
import { ConfigError } from '../config-error.js';
import { memberOf, readTree } from './read-plugin.js';

/** kube-apiserver passes over what it cannot read of this file; so do we, by what is no selector. */
export function nodeSelectors(text: string): NodeSelectors {
  try {
    const given = memberOf(readTree(text), 'podNodeSelectorPluginConfig');
    if (!isPlainObject(given)) return {};
    const texts = Object.entries(given).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
    return Object.fromEntries(texts);
  } catch (error) {
    if (error instanceof ConfigError) return {};
    throw error;
  }
}
