// Which servers are alive: each keeps a record with a short life, renewed while the server lives.
import type { KubeObject } from '../machinery/object.js';
import { objectCodec } from '../rest/object-codec.js';
import { mustType } from '../schema/catalogue.js';
import type { MasterLeases } from '../bootstrap/endpoint-reconcilers.js';
import { StorageError, type ResourceStore } from '../storage/store.js';
import type { Resources } from './resources.js';

/** How long a record outlives its server. */
const LEASE_SECONDS = 15;
const RENEW_ATTEMPTS = 5;

export function createMasterLeases(resources: Resources, prefix: string, address: string): MasterLeases {
  const store: ResourceStore = resources.openStore({
    resource: { group: '', resource: 'masterleases' },
    prefix: `${prefix}/masterleases/`,
    namespaced: false,
    codec: objectCodec(mustType('io.k8s.api.core.v1.Endpoints')),
    fieldsOf: () => ({}),
  });
  return {
    async renew() {
      // Another server may advertise the same address.
      for (let attempt = 1; ; attempt++) {
        try {
          return await renewOnce(store, address);
        } catch (error) {
          if (!(error instanceof StorageError) || attempt === RENEW_ATTEMPTS) throw error;
        }
      }
    },
    async addresses() {
      const everything = { namespace: '', resourceVersion: '', resourceVersionMatch: '' as const };
      const all = await store.list({ ...everything, limit: 0, continue: '' });
      return all.items.map(({ key }) => key);
    },
    async remove() {
      const current = await store.get(address, '');
      if (current === undefined) return false;
      try {
        await store.delete(address, current.revision);
      } catch (error) {
        if (!(error instanceof StorageError)) throw error;
      }
      return true;
    },
  };
}

async function renewOnce(store: ResourceStore, address: string): Promise<void> {
  const current = await store.get(address, '');
  // The generation only makes each renewal differ from the one before, so that it is written.
  const generation = (current?.object().metadata.generation ?? 0) + 1;
  const object = {
    kind: 'Endpoints',
    apiVersion: 'v1',
    metadata: { generation },
    subsets: [{ addresses: [{ ip: address }] }],
  } as KubeObject;
  const ttl = { ttlSeconds: LEASE_SECONDS };
  if (current === undefined) await store.create(address, object, ttl);
  else await store.update(address, current.revision, object, ttl);
}
