// Tells since when the use of old secret-based tokens is noted, so that a cleaner knows how far its knowledge reaches.
import type { KubeObject } from '../machinery/object.js';
import type { ConfigMap } from '../schema/generated/core.v1.js';
import { type ServerClient, SERVER_MANAGER } from '../registry/server-client.js';

const RESOURCE = { group: '', resource: 'configmaps' };
const NAMESPACE = 'kube-system';
const NAME = 'kube-apiserver-legacy-service-account-token-tracking';

export async function ensureLegacyTokenTracking(client: ServerClient, now: () => Date): Promise<void> {
  const since = now().toISOString().slice(0, 10);
  const current = (await client.get(RESOURCE, NAMESPACE, NAME)) as ConfigMap | undefined;
  if (current === undefined) {
    const configMap: ConfigMap = {
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: { name: NAME, namespace: NAMESPACE },
      data: { since },
    };
    await client.create(RESOURCE, configMap, SERVER_MANAGER);
  } else if (!/^\d{4}-\d\d-\d\d$/.test(current.data?.['since'] ?? '')) {
    const change = (object: KubeObject): KubeObject => ({ ...object, data: { since } }) as KubeObject;
    await client.update({ resource: RESOURCE, object: current, change, manager: SERVER_MANAGER });
  }
}
