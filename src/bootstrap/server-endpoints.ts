// The endpoints of the API's own service, kept twice: as Endpoints and as an EndpointSlice that says the same.
import { deepEqual } from '../lib/values/deep-equal.js';
import { type ServerClient, SERVER_MANAGER } from '../registry/server-client.js';
import type { EndpointPort, EndpointSubset, Endpoints } from '../schema/generated/core.v1.js';
import type { EndpointSlice } from '../schema/generated/discovery.v1.js';

const ENDPOINTS = { group: '', resource: 'endpoints' };
const SLICES = { group: 'discovery.k8s.io', resource: 'endpointslices' };
const NAMESPACE = 'default';
const NAME = 'kubernetes';
/** Nobody is to mirror the endpoints: their slice is written here. */
const SKIP_MIRROR = 'endpointslice.kubernetes.io/skip-mirror';
const SLICE_LABELS = { 'kubernetes.io/service-name': NAME };

export type Subsets = readonly EndpointSubset[];

export interface ServerEndpoints {
  /** The port this server adds to its address. */
  readonly ports: readonly EndpointPort[];
  /**
   * Brings the endpoints to what `change` makes of them; it is called again when another server was faster. Undefined
   * stands for endpoints that are not there: `change` answers undefined to leave it so.
   */
  keep(change: (subsets: Subsets | undefined) => Subsets | undefined): Promise<void>;
}

export function createServerEndpoints(client: ServerClient, securePort: number): ServerEndpoints {
  return {
    ports: [{ name: 'https', port: securePort, protocol: 'TCP' }],
    async keep(change) {
      const current = (await client.get(ENDPOINTS, NAMESPACE, NAME)) as Endpoints | undefined;
      const wanted = change(current && (current.subsets ?? []));
      if (wanted === undefined) return;
      if (current === undefined) {
        await client.create(ENDPOINTS, newEndpoints(wanted), SERVER_MANAGER);
        return ensureSlice(client, wanted);
      }
      if (current.metadata.labels?.[SKIP_MIRROR] === 'true' && deepEqual(current.subsets ?? [], wanted)) {
        return ensureSlice(client, wanted);
      }
      let written = wanted;
      const update = (object: Endpoints): Endpoints => {
        written = change(object.subsets ?? []) ?? [];
        const { subsets: _, ...rest } = object;
        const labels = { ...object.metadata.labels, [SKIP_MIRROR]: 'true' };
        return {
          ...rest,
          metadata: { ...object.metadata, labels },
          ...(written.length > 0 && { subsets: [...written] }),
        };
      };
      await client.update({
        resource: ENDPOINTS,
        object: current,
        change: (object) => update(object as Endpoints),
        manager: SERVER_MANAGER,
      });
      await ensureSlice(client, written);
    },
  };
}

const newEndpoints = (subsets: Subsets): Endpoints => ({
  kind: 'Endpoints',
  apiVersion: 'v1',
  metadata: { name: NAME, namespace: NAMESPACE, labels: { [SKIP_MIRROR]: 'true' } },
  ...(subsets.length > 0 && { subsets: [...subsets] }),
});

async function ensureSlice(client: ServerClient, subsets: Subsets): Promise<void> {
  const wanted = sliceOf(subsets);
  const current = (await client.get(SLICES, NAMESPACE, NAME)) as EndpointSlice | undefined;
  // A slice's type of addresses is for ever: one of another type makes room.
  const ofOtherType = current !== undefined && current.addressType !== wanted.addressType;
  if (ofOtherType) await client.delete(SLICES, current);
  if (current === undefined || ofOtherType) {
    const metadata = { name: NAME, namespace: NAMESPACE, labels: SLICE_LABELS };
    const object: EndpointSlice = { kind: 'EndpointSlice', apiVersion: 'discovery.k8s.io/v1', metadata, ...wanted };
    await client.create(SLICES, object, SERVER_MANAGER);
    return;
  }
  const same =
    deepEqual(current.endpoints, wanted.endpoints) &&
    deepEqual(current.ports, wanted.ports) &&
    deepEqual(current.metadata.labels, SLICE_LABELS);
  if (same) return;
  const update = (object: EndpointSlice): EndpointSlice => ({
    ...object,
    metadata: { ...object.metadata, labels: SLICE_LABELS },
    ...wanted,
  });
  await client.update({
    resource: SLICES,
    object: current,
    change: (object) => update(object as EndpointSlice),
    manager: SERVER_MANAGER,
  });
}

function sliceOf([subset]: Subsets): Pick<EndpointSlice, 'addressType' | 'endpoints' | 'ports'> {
  const { addresses = [], notReadyAddresses = [], ports = [] } = subset ?? {};
  const all = [
    ...addresses.map(({ ip }) => ({ ip, ready: true })),
    ...notReadyAddresses.map(({ ip }) => ({ ip, ready: false })),
  ];
  const isV6 = all.length > 0 && all.every(({ ip }) => ip.includes(':'));
  const endpoints = all
    .filter(({ ip }) => ip.includes(':') === isV6)
    .map(({ ip, ready }) => ({ addresses: [ip], conditions: { ready } }));
  return {
    addressType: isV6 ? 'IPv6' : 'IPv4',
    endpoints: endpoints.length > 0 ? endpoints : null,
    ports: ports.length > 0 ? ports.map(({ name = '', port, protocol = 'TCP' }) => ({ name, protocol, port })) : null,
  };
}
