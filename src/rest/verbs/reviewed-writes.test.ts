// What admission sees before a write.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { optionsValue } from '../../admission/matching/request-value.js';
import type { AdmissionAttributes } from '../../admission/plugin.js';
import { deployments } from '../../apis/apps/deployment/definition.js';
import { configMaps } from '../../apis/core/configmap/definition.js';
import { namespaces } from '../../apis/core/namespace/definition.js';
import { pods } from '../../apis/core/pod/definition.js';
import type { KubeObject } from '../../machinery/object.js';
import type { KindDefinition } from '../../registry/kind.js';
import { TestApi } from '../../server/testing/test-api.js';

const kinds = [configMaps, deployments, namespaces, pods] as unknown as readonly KindDefinition[];

function watched(admit?: (attributes: AdmissionAttributes) => void) {
  const seen: AdmissionAttributes[] = [];
  const api = new TestApi({
    kinds,
    admission: {
      admit: async (attributes) => admit?.(attributes),
      validate: async (attributes) => void seen.push({ ...attributes }),
    },
  });
  return { api, seen };
}

test('validating admission sees the requested name, and one that was generated', async () => {
  const { api, seen } = watched(({ object }) => {
    if (object?.metadata.name === 'a') object.metadata.name = 'renamed';
  });
  const path = '/api/v1/namespaces/default/configmaps';
  await api.send('POST', path, { body: { metadata: { name: 'a' } } });
  assert.deepEqual([seen[0]?.name, seen[0]?.object?.metadata.name], ['a', 'renamed']);
  await api.send('POST', path, { body: { metadata: { generateName: 'g-' } } });
  assert.match(seen[1]?.name ?? '', /^g-.{5}$/);
});

test('what nobody waits for any more once it is reviewed is not written', async () => {
  const gone = new AbortController();
  const { api } = watched(() => gone.abort());
  const path = '/api/v1/namespaces/default/configmaps';
  const refused = await api.send('POST', path, { body: { metadata: { name: 'a' } }, signal: gone.signal });
  const late = 'Timeout: request did not complete within requested timeout - context canceled';
  assert.deepEqual([refused.status, refused.body.message], [504, late]);
  assert.equal((await api.send('GET', `${path}/a`)).status, 404);
});

test('a pod that goes at once is reviewed twice: when it is marked, and when it goes', async () => {
  const { api, seen } = watched();
  const body = { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  await api.send('POST', '/api/v1/namespaces/default/pods', { body });
  const path = '/api/v1/namespaces/default/pods/p';
  await api.send('DELETE', `${path}?dryRun=All`);
  await api.send('DELETE', path);
  const periods = seen.slice(1).map(({ old }) => old?.metadata.deletionGracePeriodSeconds);
  assert.deepEqual(periods, [undefined, undefined, undefined, 0]);
});

test('a namespace is reviewed as the very one that was found', async () => {
  const { api, seen } = watched();
  const { body } = await api.send('POST', '/api/v1/namespaces', { body: { metadata: { name: 'n' } } });
  await api.send('DELETE', '/api/v1/namespaces/n');
  assert.deepEqual(seen[1]?.options, { preconditions: { uid: body.metadata.uid } });
});

test('a scale is shown as it was sent, with who owns its fields, and as what it has become to who validates', async () => {
  const mutating: AdmissionAttributes[] = [];
  const { api, seen } = watched((attributes) => void mutating.push({ ...attributes }));
  const spec = {
    selector: { matchLabels: { a: 'b' } },
    template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  };
  const path = '/apis/apps/v1/namespaces/default/deployments';
  await api.send('POST', path, { body: { metadata: { name: 'd' }, spec } });
  const sent = { metadata: { name: 'd', namespace: 'default' }, spec: { replicas: 2 } };
  await api.send('PUT', `${path}/d/scale?fieldManager=m`, { body: sent });
  const scaleIn = ({ view, object }: AdmissionAttributes) =>
    object && (view?.of(object) as KubeObject & { spec: object });
  const [shown, finished] = [mutating[1], seen[1]].map((attributes) => attributes && scaleIn(attributes));
  assert.deepEqual(Object.keys(shown?.metadata ?? {}).sort(), ['managedFields', 'name', 'namespace']);
  assert.deepEqual([shown?.metadata.managedFields?.[0]?.manager, shown?.spec], ['m', { replicas: 2 }]);
  assert.deepEqual([finished?.metadata.managedFields, finished?.spec], [undefined, { replicas: 2 }]);
  assert.notEqual(finished?.metadata.uid, undefined);
});

test('the options of a review have fieldValidation as the request has it, also where it names the default', async () => {
  const { api, seen } = watched();
  const path = '/api/v1/namespaces/default/configmaps';
  await api.send('POST', `${path}?fieldValidation=Warn`, { body: { metadata: { name: 'a' } } });
  await api.send('PUT', `${path}/a?fieldValidation=Ignore`, { body: { metadata: { name: 'a' } } });
  await api.send('POST', `${path}?fieldManager=m`, { body: { metadata: { name: 'b' } } });
  const shown = seen.map((attributes) => optionsValue(attributes) as { fieldValidation?: string });
  assert.deepEqual(
    shown.map(({ fieldValidation }) => fieldValidation),
    ['Warn', 'Ignore', undefined],
  );
});

test('a scale that a hook makes invalid is refused as a scale', async () => {
  const { api, seen } = watched(({ object, view, subresource }) => {
    if (object === undefined || view === undefined || subresource !== 'scale') return;
    view.write(object, { ...view.of(object), spec: { replicas: -1 } } as unknown as KubeObject);
  });
  const spec = {
    selector: { matchLabels: { a: 'b' } },
    template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  };
  const path = '/apis/apps/v1/namespaces/default/deployments';
  await api.send('POST', path, { body: { metadata: { name: 'd' }, spec } });
  const sent = { metadata: { name: 'd', namespace: 'default' }, spec: { replicas: 2 } };
  const { status, body } = await api.send('PUT', `${path}/d/scale`, { body: sent });
  const why = 'spec.replicas: Invalid value: -1: must be greater than or equal to 0';
  assert.deepEqual([status, body.message], [422, `Scale.autoscaling "d" is invalid: ${why}`]);
  assert.equal(seen.length, 1);
});
