// A store of objects that are computed on each read and kept nowhere.
import type { KubeObject } from '../machinery/object.js';
import { methodNotAllowed, notFound } from '../machinery/status.js';
import type { ListRequest, ManagedResourceStore, ResourceStoreOptions, StoredObject } from '../storage/store.js';

export function computedStore(
  options: ResourceStoreOptions,
  singular: string,
  objects: () => Promise<readonly KubeObject[]>,
): ManagedResourceStore {
  const { resource, codec, fieldsOf } = options;
  const readOnly = (action: string) => (): Promise<never> => Promise.reject(methodNotAllowed(resource, action));
  const stored = (object: KubeObject): StoredObject => {
    const name = object.metadata.name ?? '';
    const fields: Record<string, string> = { ...fieldsOf(object), 'metadata.name': name };
    const json = codec.encodeJson(object);
    return {
      key: name,
      revision: 0,
      json,
      size: json.length,
      object: () => object,
      labels: object.metadata.labels ?? {},
      field: (field) => fields[field] ?? '',
    };
  };
  const find = async (key: string): Promise<StoredObject> => {
    const found = (await all()).find((object) => object.key === key);
    if (found === undefined) throw notFound({ ...resource, resource: singular }, key);
    return found;
  };
  const all = async (): Promise<StoredObject[]> => (await objects()).map(stored);
  return {
    options,
    get: find,
    getForUpdate: find,
    async list({ name = '', predicate }: ListRequest) {
      const items = (await all()).filter(
        (object) => (name === '' || object.key === name) && (predicate?.(object) ?? true),
      );
      return { items, revision: 0, continue: '' };
    },
    create: readOnly('create'),
    update: readOnly('update'),
    delete: readOnly('delete'),
    watch: readOnly('watch'),
    isStale: () => Promise.resolve(false),
    deleteUnreadable: () => Promise.resolve(false),
    count: async () => (await objects()).length,
    ready: () => Promise.resolve(),
    close: () => undefined,
  };
}
