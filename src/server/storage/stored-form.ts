// Which bytes a store keeps of an object.
import { CBOR_TYPE, JSON_TYPE } from '../../rest/wire/media-types.js';
import type { ResourceStoreOptions } from '../../storage/store.js';
import type { ValueForm } from '../../storage/values.js';

/** kube-apiserver's servers for these two groups have a codec of their own, which the flag does not reach. */
const ALWAYS_JSON: ReadonlySet<string> = new Set(['apiextensions.k8s.io', 'apiregistration.k8s.io']);

export interface StoredFormOptions {
  /** `--storage-media-type`. */
  readonly mediaType: string;
  /** The gate CBORServingAndStorage. */
  readonly cbor: boolean;
}

/** The embedded store keeps what is served; etcd what kube-apiserver keeps there. */
export function storedForm(
  isEmbedded: boolean,
  { resource, custom }: Pick<ResourceStoreOptions, 'resource' | 'custom'>,
  { mediaType, cbor }: StoredFormOptions,
): ValueForm {
  if (isEmbedded) return { kind: 'json' };
  if (custom === true) return { kind: 'storage', mediaType: cbor ? CBOR_TYPE.name : JSON_TYPE.name };
  return {
    kind: 'storage',
    mediaType: mediaType === '' || ALWAYS_JSON.has(resource.group) ? JSON_TYPE.name : mediaType,
  };
}
