// The ServiceCIDR `kubernetes`: the range of --service-cluster-ip-range, as an object.
import type { Logger } from '../lib/telemetry/log.js';
import { deepEqual } from '../lib/values/deep-equal.js';
import type { KubeObject } from '../machinery/object.js';
import type { ServiceCIDR } from '../schema/generated/networking.v1.js';
import { type ServerClient, SERVER_MANAGER } from '../registry/server-client.js';

const RESOURCE = { group: 'networking.k8s.io', resource: 'servicecidrs' };
const NAME = 'kubernetes';
const STATUS_MANAGER = 'kubernetes-service-cidr-controller';

export interface ServiceCidrOptions {
  readonly client: ServerClient;
  /** The range of the default address family first. */
  readonly cidrs: readonly string[];
  readonly now: () => string;
  readonly log: Logger;
}

/** One round: creates it, adds a second family, and marks it ready, unless it is somebody else's by now. */
export function createDefaultServiceCidr({ client, cidrs, now, log }: ServiceCidrOptions): () => Promise<void> {
  let reported = false;
  return async () => {
    let current = (await client.get(RESOURCE, '', NAME)) as ServiceCIDR | undefined;
    if (current === undefined) {
      await client.create(RESOURCE, cidrOf(cidrs), SERVER_MANAGER);
      current = (await client.get(RESOURCE, '', NAME)) as ServiceCIDR | undefined;
      if (current === undefined) throw new Error('the default ServiceCIDR was deleted as soon as it was created');
    }
    const has = current.spec.cidrs ?? [];
    if (cidrs.length === 2 && has.length === 1 && has[0] === cidrs[0]) {
      const widen = (object: KubeObject): KubeObject => ({ ...object, spec: { cidrs: [...cidrs] } }) as KubeObject;
      await client.update({ resource: RESOURCE, object: current, change: widen, manager: SERVER_MANAGER });
      return;
    }
    if (current.metadata.deletionTimestamp) return;
    if (!deepEqual(has, [...cidrs])) {
      if (!reported)
        log.info(`the default ServiceCIDR is [${has.join(' ')}], this server is configured for [${cidrs.join(' ')}]`);
      reported = true;
      return;
    }
    const ready = current.status.conditions?.find(({ type }) => type === 'Ready');
    if (ready === undefined || ready.status === 'Unknown')
      await client.apply({
        resource: RESOURCE,
        object: current,
        configuration: readySince(now()),
        manager: STATUS_MANAGER,
        subresource: 'status',
      });
  };
}

function readySince(lastTransitionTime: string): KubeObject {
  const message = 'Kubernetes default Service CIDR is ready';
  const ready = {
    kind: 'ServiceCIDR',
    apiVersion: 'networking.k8s.io/v1',
    metadata: { name: NAME },
    status: { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime, message }] },
  };
  return ready as KubeObject;
}

function cidrOf(cidrs: readonly string[]): KubeObject {
  const serviceCidr: ServiceCIDR = {
    kind: 'ServiceCIDR',
    apiVersion: 'networking.k8s.io/v1',
    metadata: { name: NAME },
    spec: { cidrs: [...cidrs] },
    status: {},
  };
  return serviceCidr;
}
