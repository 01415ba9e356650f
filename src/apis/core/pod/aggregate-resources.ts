import { ownMember } from '../../../lib/values/plain-object.js';
import { addQuantities, compareQuantities, formatQuantity } from '../../../machinery/quantity.js';
import type { PodSpec, ResourceList } from '../../../schema/generated/core.v1.js';
import { isSidecar } from './containers.js';

/**
 * What the containers of a pod need at the worst moment: all containers and sidecars together, or one init container
 * beside the sidecars that were started before it, whichever is more.
 */
export function aggregateContainers(spec: Readonly<PodSpec>, kind: 'requests' | 'limits'): ResourceList {
  const running: ResourceList = {};
  const sidecars: ResourceList = {};
  const starting: ResourceList = {};
  for (const container of spec.containers ?? []) add(running, container.resources[kind]);
  for (const container of spec.initContainers ?? []) {
    const own = container.resources[kind];
    if (isSidecar(container)) {
      add(running, own);
      add(sidecars, own);
      raise(starting, sidecars);
    } else {
      const needed: ResourceList = {};
      add(needed, own);
      add(needed, sidecars);
      raise(starting, needed);
    }
  }
  raise(running, starting);
  return running;
}

function add(total: ResourceList, more: Readonly<ResourceList> | undefined): void {
  for (const [name, quantity] of Object.entries(more ?? {})) {
    const so = ownMember(total, name);
    total[name] = so === undefined ? quantity : formatQuantity(addQuantities(so, quantity));
  }
}

function raise(total: ResourceList, atLeast: Readonly<ResourceList>): void {
  for (const [name, quantity] of Object.entries(atLeast)) {
    const so = ownMember(total, name);
    if (so === undefined || compareQuantities(quantity, so) > 0) total[name] = quantity;
  }
}
