// Records in the store that live a little longer than they are renewed: what servers publish about themselves.
import type { KubeObject } from '../../machinery/object.js';
import { objectCodec } from '../../rest/wire/object-codec.js';
import { mustType } from '../../schema/catalogue.js';
import type { Endpoints } from '../../schema/generated/core.v1.js';
import { StorageError, type ResourceStore } from '../../storage/store.js';
import type { Resources } from '../kinds/resources.js';

/** How long a record outlives its server. */
const LIFE_SECONDS = 15;
const RENEW_ATTEMPTS = 5;

export interface ShortLivedRecords {
  renew(key: string, record: Pick<Endpoints, 'subsets'> & { readonly labels?: Record<string, string> }): Promise<void>;
  get(key: string): Promise<Readonly<Endpoints> | undefined>;
  keys(): Promise<readonly string[]>;
  /** Answers whether there was one. */
  remove(key: string): Promise<boolean>;
}

/** `folder` is where they lie, below the prefix of all keys. */
export function createShortLivedRecords(resources: Resources, prefix: string, folder: string): ShortLivedRecords {
  const store: ResourceStore = resources.openStore({
    resource: { group: '', resource: folder },
    prefix: `${prefix}/${folder}/`,
    namespaced: false,
    codec: objectCodec(mustType('io.k8s.api.core.v1.Endpoints')),
    fieldsOf: () => ({}),
  });
  const renewOnce: ShortLivedRecords['renew'] = async (key, { subsets = [], labels }) => {
    const current = await store.get(key, '');
    // The generation only makes each renewal differ from the one before, so that it is written.
    const generation = (current?.object().metadata.generation ?? 0) + 1;
    const metadata = { generation, ...(labels !== undefined && { labels }) };
    const object = { kind: 'Endpoints', apiVersion: 'v1', metadata, subsets } as KubeObject;
    const ttl = { ttlSeconds: LIFE_SECONDS };
    if (current === undefined) await store.create(key, object, ttl);
    else await store.update(key, current.revision, object, ttl);
  };
  return {
    async renew(key, record) {
      // Another server may use the same key.
      for (let attempt = 1; ; attempt++) {
        try {
          return await renewOnce(key, record);
        } catch (error) {
          if (!(error instanceof StorageError) || attempt === RENEW_ATTEMPTS) throw error;
        }
      }
    },
    get: async (key) => (await store.get(key, ''))?.object() as Endpoints | undefined,
    async keys() {
      const everything = { namespace: '', resourceVersion: '', resourceVersionMatch: '' as const };
      const all = await store.list({ ...everything, limit: 0, continue: '' });
      return all.items.map(({ key }) => key);
    },
    async remove(key) {
      const current = await store.get(key, '');
      if (current === undefined) return false;
      try {
        await store.delete(key, current.revision);
      } catch (error) {
        if (!(error instanceof StorageError)) throw error;
      }
      return true;
    },
  };
}
