// Which servers are alive, by their addresses.
import type { MasterLeases } from '../../bootstrap/endpoint-reconcilers.js';
import type { Resources } from '../kinds/resources.js';
import { createShortLivedRecords } from './short-lived-records.js';

export function createMasterLeases(resources: Resources, prefix: string, address: string): MasterLeases {
  const records = createShortLivedRecords(resources, prefix, 'masterleases');
  return {
    renew: () => records.renew(address, { subsets: [{ addresses: [{ ip: address }] }] }),
    addresses: () => records.keys(),
    remove: () => records.remove(address),
  };
}
