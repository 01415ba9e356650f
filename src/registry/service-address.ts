// Where a service of this cluster is reached. There is no DNS on the control plane's side: the objects say so.
import type { MaybePromise } from '../lib/async/maybe-promise.js';
import { whenReady } from '../lib/async/maybe-promise.js';
import type { KubeObject } from '../machinery/object.js';
import type { Dialer, DialTarget } from '../outbound/dialer.js';
import { OutboundError } from '../outbound/outbound-error.js';
import type { Service } from '../schema/generated/core.v1.js';
import type { EndpointSlice } from '../schema/generated/discovery.v1.js';
import type { Lookup } from './kind.js';

export interface ServicePortTarget {
  readonly namespace: string;
  readonly name: string;
  /** One of the service's own ports. */
  readonly port: number;
}

/** Rejects with an OutboundError that says why there is no way to the service. */
export type ServiceResolver = (target: ServicePortTarget) => MaybePromise<DialTarget>;

const SERVICES = { group: '', resource: 'services' };
const ENDPOINT_SLICES = { group: 'discovery.k8s.io', resource: 'endpointslices' };
const SERVICE_NAME = 'kubernetes.io/service-name';
const WITH_ADDRESS = new Set(['ClusterIP', 'NodePort', 'LoadBalancer']);

/** By the service's cluster IP, where something in the cluster forwards what comes to it. */
export const resolveByClusterIp =
  (lookup: Lookup): ServiceResolver =>
  (target) =>
    whenReady(lookup.get(SERVICES, target.namespace, target.name), (object) => {
      const { spec } = existing(object, target);
      if (spec.type === 'ExternalName') return { host: spec.externalName ?? '', port: target.port };
      if (spec.type === 'ClusterIP' && spec.clusterIP === 'None') {
        throw dialFault('cannot route to service with ClusterIP "None"');
      }
      if (!WITH_ADDRESS.has(spec.type ?? '')) throw dialFault(`unsupported service type "${spec.type ?? ''}"`);
      portOf(spec, target);
      return { host: spec.clusterIP ?? '', port: target.port };
    });

/** By one of the endpoints behind it, for a control plane that service addresses mean nothing to. */
export const resolveByEndpoints =
  (lookup: Lookup, random: () => number): ServiceResolver =>
  (target) =>
    whenReady(lookup.get(SERVICES, target.namespace, target.name), (object) => {
      const { spec } = existing(object, target);
      if (!WITH_ADDRESS.has(spec.type ?? '')) throw dialFault(`unsupported service type "${spec.type ?? ''}"`);
      const { name: portName = '' } = portOf(spec, target);
      return whenReady(lookup.list(ENDPOINT_SLICES, target.namespace), (stored) => {
        const slices = stored
          .map((each) => each.object() as Readonly<KubeObject> as Readonly<EndpointSlice>)
          .filter(({ metadata }) => metadata.labels?.[SERVICE_NAME] === target.name);
        const found = endpointIn(inOrder(slices, spec.ipFamilies?.[0], random), portName, random);
        if (found === undefined) throw dialFault(`no endpoints available for service "${target.name}"`);
        return found;
      });
    });

/** Connections to a service, each to where it is at that moment. */
export const dialService = (resolve: ServiceResolver, target: ServicePortTarget, dialer: Dialer): Dialer => ({
  dial: async (_named, signal, trace) => dialer.dial(await resolve(target), signal, trace),
});

function existing(object: Readonly<KubeObject> | undefined, { name }: ServicePortTarget): Readonly<Service> {
  if (object === undefined) throw dialFault(`service "${name}" not found`);
  return object as Readonly<Service>;
}

function portOf({ ports }: NonNullable<Service['spec']>, { name, port }: ServicePortTarget): { name?: string } {
  const found = ports?.find((each) => each.port === port);
  if (found === undefined) throw dialFault(`no service port ${port} found for service "${name}"`);
  return found;
}

/** Those of the service's first family come first; otherwise no slice is preferred. */
function inOrder(
  slices: readonly Readonly<EndpointSlice>[],
  family: string | undefined,
  random: () => number,
): readonly Readonly<EndpointSlice>[] {
  return slices
    .map((slice) => ({ slice, rank: (slice.addressType === family ? 0 : 1) + random() / 2 }))
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ slice }) => slice);
}

function endpointIn(
  slices: readonly Readonly<EndpointSlice>[],
  portName: string,
  random: () => number,
): DialTarget | undefined {
  for (const { ports, endpoints } of slices) {
    const port = ports?.find((each) => each.name === portName && each.port !== undefined)?.port;
    // One that says nothing of being ready is.
    const ready = (endpoints ?? []).filter(({ conditions }) => conditions?.ready !== false);
    const chosen = ready[Math.floor(random() * ready.length)]?.addresses?.[0];
    if (port !== undefined && chosen !== undefined) return { host: chosen, port };
  }
  return undefined;
}

const dialFault = (why: string): OutboundError => new OutboundError('dial', why);
