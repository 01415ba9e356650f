// What a deployment's author waits for: with the stand-ins of workloads its pods become ready, though no container runs.
import { AppsV1Api, CoreV1Api } from '@kubernetes/client-node';
import { startCluster, type Cluster, type KubernetesObject } from 'binnacle/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { kubeConfigOf } from './client.js';

const WEB = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' } as const;
type Available = KubernetesObject & { status?: { availableReplicas?: number } };
let cluster: Cluster;

beforeAll(async () => {
  cluster = await startCluster({ flags: ['--controllers=*,workloads'] });
});
afterAll(() => cluster.stop());

test('a deployment becomes available', async () => {
  const apps = kubeConfigOf(cluster).makeApiClient(AppsV1Api);
  const labels = { app: 'web' };
  await apps.createNamespacedDeployment({
    namespace: 'default',
    body: {
      metadata: { name: WEB.name },
      spec: {
        replicas: 2,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'example.test/web:1' }] } },
      },
    },
  });
  await cluster.waitFor<Available>(WEB, ({ status }) => status?.availableReplicas === 2);
  const core = kubeConfigOf(cluster).makeApiClient(CoreV1Api);
  const { items } = await core.listNamespacedPod({ namespace: 'default', labelSelector: 'app=web' });
  expect(items.map(({ status }) => status?.phase)).toEqual(['Running', 'Running']);
});
