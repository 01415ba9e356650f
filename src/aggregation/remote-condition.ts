// Whether the service that answers for an API version could be reached, from what is known of it.
import { goQuote } from '../lib/go/quote.js';
import type { APIServiceCondition, ServiceReference } from '../schema/generated/apiregistration.v1.js';
import type { Service } from '../schema/generated/core.v1.js';
import type { EndpointSlice } from '../schema/generated/discovery.v1.js';

export type Judgement = Pick<APIServiceCondition, 'type' | 'status' | 'reason' | 'message'>;

export interface Backing {
  /** Undefined when there is no such service. */
  readonly service: Readonly<Service> | undefined;
  readonly slices: readonly Readonly<EndpointSlice>[];
}

/** Undefined: no objection so far, and only a call of the server can decide. */
export function remoteCondition(
  reference: Readonly<ServiceReference>,
  { service, slices }: Backing,
): Judgement | undefined {
  const { namespace = '', name = '', port = 0 } = reference;
  const where = `service/${name} in ${goQuote(namespace)}`;
  if (service === undefined) return unavailable('ServiceNotFound', `${where} is not present`);
  // Only of a service with an address in the cluster it is known where it leads.
  if (service.spec.type === 'ClusterIP') {
    const servicePort = service.spec.ports?.find((one) => one.port === port);
    if (servicePort === undefined) return unavailable('ServicePortError', `${where} is not listening on port ${port}`);
    if (slices.length === 0) return unavailable('EndpointsNotFound', `cannot find endpointslices for ${where}`);
    const portName = servicePort.name ?? '';
    if (!slices.some((slice) => leadsSomewhere(slice, portName))) {
      const why = `endpointslices for ${where} have no addresses with port name ${goQuote(portName)}`;
      return unavailable('MissingEndpoints', why);
    }
  }
  return undefined;
}

const unavailable = (reason: string, message: string): Judgement => ({
  type: 'Available',
  status: 'False',
  reason,
  message,
});

function leadsSomewhere({ endpoints, ports }: Readonly<EndpointSlice>, portName: string): boolean {
  const ready = endpoints?.some(({ conditions }) => conditions.ready ?? true) ?? false;
  return ready && (ports?.some(({ name, port }) => name === portName && port !== undefined) ?? false);
}
