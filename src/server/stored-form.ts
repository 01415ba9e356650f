// Which bytes a store keeps of an object.
import type { KeyValueStore } from '../kv/kv.js';
import type { ValueForm } from '../storage/values.js';

const JSON_MEDIA_TYPE = 'application/json';

/** The reference's servers for these two groups have a codec of their own, which the flag does not reach. */
const ALWAYS_JSON: ReadonlySet<string> = new Set(['apiextensions.k8s.io', 'apiregistration.k8s.io']);

/** The embedded store keeps what is served; etcd what `--storage-media-type` says, by the reference's rules. */
export function storedForm({ local }: KeyValueStore, group: string, mediaType: string): ValueForm {
  if (local) return { kind: 'json' };
  return { kind: 'storage', mediaType: mediaType === '' || ALWAYS_JSON.has(group) ? JSON_MEDIA_TYPE : mediaType };
}
