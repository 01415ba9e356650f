// The API's own service, `kubernetes` in the default namespace, and the addresses of the servers behind it.
import type { Endpoints, Service } from '../schema/generated/core.v1.js';
import type { EndpointSlice } from '../schema/generated/discovery.v1.js';
import { deepEqual } from '../lib/deep-equal.js';
import { type ServerClient, SERVER_MANAGER } from '../registry/server-client.js';

const SERVICES = { group: '', resource: 'services' };
const ENDPOINTS = { group: '', resource: 'endpoints' };
const SLICES = { group: 'discovery.k8s.io', resource: 'endpointslices' };
const NAMESPACE = 'default';
const NAME = 'kubernetes';

export interface ApiServiceOptions {
  readonly client: ServerClient;
  /** The address of the service itself. */
  readonly clusterIp: string;
  /** --kubernetes-service-node-port; 0 for none. */
  readonly nodePort: number;
  /** Where this server listens. */
  readonly securePort: number;
  /** The addresses of all servers that are alive, this one's included; absent when others keep the endpoints. */
  readonly serverAddresses?: () => Promise<readonly string[]>;
}

/** Makes the service when it is missing and brings its endpoints up to date. */
export async function ensureApiService(options: ApiServiceOptions): Promise<void> {
  await ensureService(options);
  if (options.serverAddresses === undefined) return;
  const addresses = [...(await options.serverAddresses())].sort();
  await ensureEndpoints(options, addresses);
  await ensureSlice(options, addresses);
}

async function ensureService({ client, clusterIp, nodePort, securePort }: ApiServiceOptions): Promise<void> {
  if ((await client.get(SERVICES, NAMESPACE, NAME)) !== undefined) return;
  const ipFamily = clusterIp.includes(':') ? 'IPv6' : 'IPv4';
  const service: Service = {
    kind: 'Service',
    apiVersion: 'v1',
    metadata: { name: NAME, namespace: NAMESPACE, labels: { component: 'apiserver', provider: 'kubernetes' } },
    spec: {
      ports: [
        {
          name: 'https',
          protocol: 'TCP',
          port: 443,
          targetPort: securePort,
          ...(nodePort > 0 && { nodePort }),
        },
      ],
      clusterIP: clusterIp,
      clusterIPs: [clusterIp],
      type: nodePort > 0 ? 'NodePort' : 'ClusterIP',
      sessionAffinity: 'None',
      ipFamilies: [ipFamily],
      ipFamilyPolicy: 'SingleStack',
      internalTrafficPolicy: 'Cluster',
      ...(nodePort > 0 && { externalTrafficPolicy: 'Cluster' }),
    },
    status: { loadBalancer: {} },
  };
  await client.create(SERVICES, service, SERVER_MANAGER);
}

async function ensureEndpoints({ client, securePort }: ApiServiceOptions, addresses: readonly string[]): Promise<void> {
  const subsets: Endpoints['subsets'] = [
    {
      addresses: addresses.map((ip) => ({ ip })),
      ports: [{ name: 'https', port: securePort, protocol: 'TCP' }],
    },
  ];
  const current = (await client.get(ENDPOINTS, NAMESPACE, NAME)) as Endpoints | undefined;
  if (current === undefined) {
    const labels = { 'endpointslice.kubernetes.io/skip-mirror': 'true' };
    const object: Endpoints = {
      kind: 'Endpoints',
      apiVersion: 'v1',
      metadata: { name: NAME, namespace: NAMESPACE, labels },
      subsets,
    };
    await client.create(ENDPOINTS, object, SERVER_MANAGER);
  } else if (!deepEqual(current.subsets, subsets)) {
    await client.update(ENDPOINTS, current, (object) => Object.assign(object, { subsets }), SERVER_MANAGER);
  }
}

async function ensureSlice({ client, securePort }: ApiServiceOptions, addresses: readonly string[]): Promise<void> {
  const wanted = {
    addressType: addresses[0]?.includes(':') ? 'IPv6' : 'IPv4',
    endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready: true } })),
    ports: [{ name: 'https', protocol: 'TCP', port: securePort }],
  };
  const current = (await client.get(SLICES, NAMESPACE, NAME)) as EndpointSlice | undefined;
  if (current === undefined) {
    const object: EndpointSlice = {
      kind: 'EndpointSlice',
      apiVersion: 'discovery.k8s.io/v1',
      metadata: { name: NAME, namespace: NAMESPACE, labels: { 'kubernetes.io/service-name': NAME } },
      ...wanted,
    };
    await client.create(SLICES, object, SERVER_MANAGER);
  } else if (!deepEqual(current.endpoints, wanted.endpoints) || !deepEqual(current.ports, wanted.ports)) {
    await client.update(SLICES, current, (object) => Object.assign(object, wanted), SERVER_MANAGER);
  }
}
