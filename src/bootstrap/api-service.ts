// The API's own service, `kubernetes` in the default namespace.
import type { Service } from '../schema/generated/core.v1.js';
import { type ServerClient, SERVER_MANAGER } from '../registry/server-client.js';

const SERVICES = { group: '', resource: 'services' };
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
}

/** Makes the service when it is missing. */
export async function ensureApiService({ client, clusterIp, nodePort, securePort }: ApiServiceOptions): Promise<void> {
  if ((await client.get(SERVICES, NAMESPACE, NAME)) !== undefined) return;
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
      type: nodePort > 0 ? 'NodePort' : 'ClusterIP',
      sessionAffinity: 'None',
      ipFamilyPolicy: 'SingleStack',
      internalTrafficPolicy: 'Cluster',
      ...(nodePort > 0 && { externalTrafficPolicy: 'Cluster' }),
    },
    status: { loadBalancer: {} },
  };
  await client.create(SERVICES, service, SERVER_MANAGER);
}
