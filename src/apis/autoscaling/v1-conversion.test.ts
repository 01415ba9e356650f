import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KindDefinition } from '../../registry/kind.js';
import { TestApi } from '../../server/testing/test-api.js';
import type { HorizontalPodAutoscaler } from '../../schema/generated/autoscaling.v2.js';
import { horizontalPodAutoscalers } from './horizontal-pod-autoscaler.js';
import { defaultV1, fromV1, toV1 } from './v1-conversion.js';

const PREFIX = 'autoscaling.alpha.kubernetes.io/';

const autoscaler = (parts: Partial<HorizontalPodAutoscaler['spec']> = {}): HorizontalPodAutoscaler => ({
  metadata: { name: 'web', annotations: { note: 'mine' } },
  spec: { scaleTargetRef: { kind: 'Deployment', name: 'web' }, maxReplicas: 3, minReplicas: 1, ...parts },
  status: { desiredReplicas: 0, currentMetrics: null },
});

test('the use of CPU is a member of version 1, every other metric an annotation in its own shape', () => {
  const stored = autoscaler({
    metrics: [
      { type: 'Pods', pods: { metric: { name: 'qps' }, target: { type: 'AverageValue', averageValue: '1500m' } } },
      { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 55 } } },
    ],
  });
  const sent = toV1(stored) as { spec: object; metadata: { annotations: Record<string, string> } };
  assert.equal((sent.spec as { targetCPUUtilizationPercentage: number }).targetCPUUtilizationPercentage, 55);
  assert.equal(
    sent.metadata.annotations[`${PREFIX}metrics`],
    '[{"type":"Pods","pods":{"metricName":"qps","targetAverageValue":"1500m"}}]',
  );
  assert.ok(!('metrics' in sent.spec));
});

test('what version 1 cannot say survives being read and written back', () => {
  const original = autoscaler({
    metrics: [
      {
        type: 'Object',
        object: {
          describedObject: { kind: 'Service', name: 's', apiVersion: 'v1' },
          metric: { name: 'm', selector: { matchLabels: { a: '<b>' } } },
          target: { type: 'Value', value: '10' },
        },
      },
      { type: 'External', external: { metric: { name: 'q' }, target: { type: 'AverageValue', averageValue: '2' } } },
    ],
    behavior: { scaleDown: { selectPolicy: 'Max', policies: [{ type: 'Pods', value: 1, periodSeconds: 60 }] } },
  });
  original.status = {
    desiredReplicas: 2,
    currentReplicas: 1,
    currentMetrics: [
      { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 9, averageValue: '90m' } } },
    ],
    conditions: [
      { type: 'AbleToScale', status: 'True', lastTransitionTime: '2026-01-02T03:04:05Z', reason: 'R', message: 'm' },
    ],
  };
  const expected = structuredClone(original);
  assert.deepEqual(fromV1(toV1(original)), expected);
});

test('annotations that cannot be read are dropped, and an autoscaler without metrics scales by CPU', () => {
  const sent = autoscaler();
  sent.metadata.annotations = { [`${PREFIX}metrics`]: '{"not":"a list"}', [`${PREFIX}behavior`]: 'garbage' };
  defaultV1(sent);
  const stored = fromV1(sent);
  assert.deepEqual(stored.spec.metrics, [
    { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } } },
  ]);
  assert.equal(stored.spec.behavior, undefined);
  assert.equal(stored.metadata.annotations, undefined);
});

test('whoever writes a status through version 1 owns the annotation that holds it', async () => {
  const api = new TestApi({ kinds: [horizontalPodAutoscalers as unknown as KindDefinition] });
  const path = '/apis/autoscaling/v1/namespaces/n/horizontalpodautoscalers';
  const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };
  const { metadata, spec } = autoscaler({ scaleTargetRef });
  await api.post(path, { metadata, spec });
  const status = { currentReplicas: 1, desiredReplicas: 1, currentCPUUtilizationPercentage: 5 };
  const { body } = await api.put(`${path}/web/status`, { metadata, spec, status });
  const entry = body.metadata.managedFields?.find(({ subresource }) => subresource === 'status');
  assert.deepEqual(entry?.fieldsV1?.['f:metadata'], { 'f:annotations': { [`f:${PREFIX}current-metrics`]: {} } });
});

test('a behavior that came through version 1 is filled in when it is right', async () => {
  const api = new TestApi({ kinds: [horizontalPodAutoscalers as unknown as KindDefinition] });
  const path = '/apis/autoscaling/v1/namespaces/n/horizontalpodautoscalers';
  const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };
  const { metadata, spec } = autoscaler({ scaleTargetRef });
  const scaleUp = { Policies: [{ Type: 'Pods', Value: 1, PeriodSeconds: 2 }] };
  const sent = (behavior: object) => ({
    metadata: { ...metadata, annotations: { [`${PREFIX}behavior`]: JSON.stringify(behavior) } },
    spec,
  });
  assert.equal((await api.post(path, sent({ ScaleUp: {} }))).status, 422);
  assert.equal((await api.post(path, sent({ ScaleUp: scaleUp }))).status, 201);
  const { body } = await api.get(`${path.replace('v1', 'v2')}/web`);
  assert.deepEqual((body as unknown as HorizontalPodAutoscaler).spec.behavior, {
    scaleUp: {
      stabilizationWindowSeconds: 0,
      selectPolicy: 'Max',
      policies: [{ type: 'Pods', value: 1, periodSeconds: 2 }],
    },
    scaleDown: { selectPolicy: 'Max', policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }] },
  });
});
