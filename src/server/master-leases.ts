// Which servers are alive: each keeps a record with a short life, renewed while the server lives.
import type { KubeObject } from '../machinery/object.js';
import { objectCodec } from '../rest/object-codec.js';
import { mustType } from '../schema/catalogue.js';
import { StorageError, type ResourceStore } from '../storage/store.js';
import type { Resources } from './resources.js';

/** How long a record outlives its server. */
const LEASE_SECONDS = 15;

export interface MasterLeases {
  /** Renews this server's record, and answers the addresses of all. */
  renew(): Promise<readonly string[]>;
  /** Takes this server's record away, for an orderly end. */
  remove(): Promise<void>;
}

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
      const all = await store.list({
        namespace: '',
        resourceVersion: '',
        resourceVersionMatch: '',
        limit: 0,
        continue: '',
      });
      return all.items.map(({ key }) => key);
    },
    async remove() {
      const current = await store.get(address, '');
      if (current === undefined) return;
      try {
        await store.delete(address, current.revision);
      } catch (error) {
        if (!(error instanceof StorageError)) throw error;
      }
    },
  };
}
