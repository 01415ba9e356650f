import type { KubeObject } from '../machinery/object.js';
import type { Namespace } from '../schema/generated/core.v1.js';
import { type ServerClient, SERVER_MANAGER } from '../registry/server-client.js';

/** Always there, and made again when somebody deletes them. */
const SYSTEM_NAMESPACES = ['kube-system', 'kube-public', 'kube-node-lease', 'default'] as const;

const RESOURCE = { group: '', resource: 'namespaces' };

export async function ensureSystemNamespaces(client: ServerClient): Promise<void> {
  await Promise.all(
    SYSTEM_NAMESPACES.map(async (name) => {
      if ((await client.get(RESOURCE, '', name)) === undefined)
        await client.create(RESOURCE, namespaceOf(name), SERVER_MANAGER);
    }),
  );
}

function namespaceOf(name: string): KubeObject {
  const namespace: Namespace = {
    kind: 'Namespace',
    apiVersion: 'v1',
    metadata: { name, labels: { 'kubernetes.io/metadata.name': name } },
    spec: {},
    status: {},
  };
  return namespace;
}
