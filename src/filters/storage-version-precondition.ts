// Lets nothing be written before it is known in which versions this server writes: with the gate StorageVersionAPI.
import { type GroupResource, groupResourceText, serviceUnavailable } from '../machinery/status.js';
import { MASTERS_GROUP } from '../machinery/user.js';
import type { Exchange, Filter } from './exchange.js';

/** How far this server has come in publishing its storage versions. */
export interface StorageVersionBarrier {
  readonly completed: boolean;
  /** A resource whose storage version is still to be published. */
  isPending(resource: GroupResource): boolean;
  /** Why publishing failed so far. */
  lastError(resource: GroupResource): string | undefined;
}

export function storageVersionPrecondition(barrier: StorageVersionBarrier): Filter {
  return (exchange, next) => {
    if (barrier.completed || mayPass(exchange)) return next(exchange);
    const { apiGroup: group, resource } = exchange.info;
    if (!barrier.isPending({ group, resource })) return next(exchange);
    const name = groupResourceText({ group, resource });
    const why = barrier.lastError({ group, resource }) ?? '<nil>';
    throw serviceUnavailable(
      `wait for storage version registration to complete for resource: ${name}, last seen error: ${why}`,
    );
  };
}

const READS: readonly string[] = ['get', 'list', 'watch'];

/** Reads, and the writes that publishing the versions needs. */
function mayPass({ info, user }: Exchange): boolean {
  if (!info.isResourceRequest || READS.includes(info.verb)) return true;
  const { apiGroup, resource, namespace, verb } = info;
  if (apiGroup === 'internal.apiserver.k8s.io' && resource === 'storageversions') return true;
  if (apiGroup === 'coordination.k8s.io' && resource === 'leases' && namespace === 'kube-system') return true;
  const isServer = user?.name === 'system:apiserver' && user.groups.includes(MASTERS_GROUP);
  return isServer && apiGroup === '' && resource === 'namespaces' && verb === 'create';
}
