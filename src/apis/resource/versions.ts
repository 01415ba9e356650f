import type { KubeObject } from '../../machinery/object.js';
import type { KindVersion } from '../../registry/kind.js';

export const RESOURCE_GROUP = 'resource.k8s.io';

/** A server of the release before knows nothing newer, and must be able to read what this one wrote. */
export const STORAGE_VERSION = 'v1beta2';

type Hook<T> = (object: T) => void;

interface VersionHooks<T> {
  readonly defaults?: Hook<T>;
  /** For the one version whose objects have another shape. */
  readonly v1beta1?: Pick<KindVersion<T & KubeObject>, 'defaults' | 'toStorage' | 'fromStorage'>;
}

export function resourceVersions<T extends KubeObject>({
  defaults,
  v1beta1,
}: VersionHooks<T>): readonly KindVersion<T>[] {
  const own = defaults === undefined ? {} : { defaults };
  return [
    { version: 'v1', ...own },
    { version: 'v1beta2', enabledByDefault: false, ...own },
    { version: 'v1beta1', enabledByDefault: false, ...(v1beta1 ?? own) },
  ];
}
