// An informer that runs over a reset: it hears of what comes back and of what goes, as of any change. Test files run beside
// each other, each with its own cluster.
import { CoreV1Api, makeInformer, type Informer, type V1ConfigMap } from '@kubernetes/client-node';
import { startCluster, type Cluster } from 'binnacle/testing';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { kubeConfigOf } from './client.js';

const NAMESPACE = 'default';
let cluster: Cluster;
let core: CoreV1Api;
let informer: Informer<V1ConfigMap>;
const heard: string[] = [];

beforeAll(async () => {
  cluster = await startCluster();
  const config = kubeConfigOf(cluster);
  core = config.makeApiClient(CoreV1Api);
  const list = () => core.listNamespacedConfigMap({ namespace: NAMESPACE, labelSelector: 'mine' });
  informer = makeInformer(config, `/api/v1/namespaces/${NAMESPACE}/configmaps`, list, 'mine');
  for (const verb of ['add', 'update', 'delete'] as const) {
    informer.on(verb, ({ metadata }) => void heard.push(`${verb} ${metadata?.name}`));
  }
  await informer.start();
});
afterAll(async () => {
  await informer.stop();
  await cluster.stop();
});

const configMap = (name: string): V1ConfigMap => ({ metadata: { name, labels: { mine: '' } } });

test('an informer hears of a reset', async () => {
  await core.createNamespacedConfigMap({ namespace: NAMESPACE, body: configMap('kept') });
  const snapshot = await cluster.snapshot();
  await core.deleteNamespacedConfigMap({ namespace: NAMESPACE, name: 'kept' });
  await core.createNamespacedConfigMap({ namespace: NAMESPACE, body: configMap('left') });
  await cluster.reset(snapshot);
  await vi.waitFor(() => expect(heard.slice(-2).sort()).toEqual(['add kept', 'delete left']));
});

test('a refusal is an error of the library', async () => {
  const wrong = { namespace: NAMESPACE, body: { metadata: { name: 'Wrong Name' } } };
  await expect(core.createNamespacedConfigMap(wrong)).rejects.toMatchObject({ code: 422 });
});
