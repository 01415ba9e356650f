import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sizeHint } from '../../machinery/size-hint.js';
import type { LimitRangeItem, Pod } from '../../schema/generated/core.v1.js';
import { refusal, testAttributes } from '../test-attributes.js';
import { limitRanger } from './limit-ranger.js';

const range = (...limits: Partial<LimitRangeItem>[]): object => ({ metadata: { name: 'l' }, spec: { limits } });
const pod = (...resources: object[]): Pod =>
  ({
    metadata: { name: 'p' },
    spec: { containers: resources.map((one, i) => ({ name: `c${i}`, resources: one })) },
  }) as Pod;
const onPod = (object: Pod, ...limits: Partial<LimitRangeItem>[]) =>
  testAttributes({ resource: 'pods', object, world: { limitranges: [range(...limits)] } });

test('refuses containers outside the limits, with all errors by resource', async () => {
  const item = { type: 'Container', max: { cpu: '1', memory: '1Gi' }, min: { cpu: '50m' } };
  const attributes = onPod(pod({ limits: { cpu: '2' }, requests: { cpu: '10m' } }), item);
  assert.equal(
    await refusal(limitRanger, attributes),
    'pods "p" is forbidden: [minimum cpu usage per Container is 50m, but request is 10m, ' +
      'maximum cpu usage per Container is 1, but limit is 2, ' +
      'maximum memory usage per Container is 1Gi.  No limit is specified]',
  );
});

test('refuses a limit too many times its request, with the ratio', async () => {
  const attributes = onPod(pod({ limits: { cpu: '1' }, requests: { cpu: '150m' } }), {
    type: 'Container',
    maxLimitRequestRatio: { cpu: '4' },
  });
  assert.equal(
    await refusal(limitRanger, attributes),
    'pods "p" is forbidden: cpu max limit to request ratio per Container is 4, but provided ratio is 6.666667',
  );
});

test('a pod is limited by the sum of its containers, or by what it states as a whole', async () => {
  const containers = [{ limits: { cpu: '1' } }, { limits: { cpu: '1500m' } }];
  const item = { type: 'Pod', max: { cpu: '2' } };
  assert.match((await refusal(limitRanger, onPod(pod(...containers), item))) ?? '', /per Pod is 2, but limit is 2500m/);
  const whole = pod(...containers);
  whole.spec.resources = { limits: { cpu: '2' } };
  assert.equal(await refusal(limitRanger, onPod(whole, item)), undefined);
});

test('refuses claims that are too small', async () => {
  const attributes = testAttributes({
    resource: 'persistentvolumeclaims',
    object: { metadata: { name: 'c' }, spec: { resources: { requests: { storage: '500Mi' } } } },
    world: { limitranges: [range({ type: 'PersistentVolumeClaim', min: { storage: '1Gi' } })] },
  });
  assert.equal(
    await refusal(limitRanger, attributes),
    'persistentvolumeclaims "c" is forbidden: minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 500Mi',
  );
});

test('defaults what containers leave out, and annotates it', async () => {
  const object = pod({ requests: { cpu: '1' } }, {});
  const item = { type: 'Container', default: { memory: '64Mi', cpu: '2' }, defaultRequest: { cpu: '100m' } };
  assert.equal(await refusal(limitRanger, onPod(object, item)), undefined);
  assert.deepEqual(object.spec.containers?.[0]?.resources, {
    requests: { cpu: '1' },
    limits: { memory: '64Mi', cpu: '2' },
  });
  assert.equal(
    object.metadata.annotations?.['kubernetes.io/limit-ranger'],
    'LimitRanger plugin set: cpu, memory limit for container c0; cpu request for container c1; cpu, memory limit for container c1',
  );
});

test('leaves updates of pods and pods being deleted alone', async () => {
  const world = { limitranges: [range({ type: 'Container', max: { cpu: '1' } })] };
  const over = pod({ limits: { cpu: '2' } });
  const update = testAttributes({ resource: 'pods', object: over, old: over, world });
  assert.equal(await refusal(limitRanger, update), undefined);
  const resize = testAttributes({ resource: 'pods', subresource: 'resize', object: over, old: over, world });
  assert.match((await refusal(limitRanger, resize)) ?? '', /maximum cpu usage/);
  const old = { ...over, metadata: { name: 'p', deletionTimestamp: '2024-01-01T00:00:00Z' } };
  const deleting = testAttributes({ resource: 'pods', subresource: 'resize', object: over, old, world });
  assert.equal(await refusal(limitRanger, deleting), undefined);
});

test('tens of thousands of defaults raise the size hint of a pod, and applying them yields to the event loop', async () => {
  const amounts = Object.fromEntries(Array.from({ length: 30_000 }, (_, i) => [`example.com/r${i}`, '1']));
  const object = pod({});
  let yields = 0;
  const others = setInterval(() => yields++, 0);
  assert.equal(
    await refusal(limitRanger, onPod(object, { type: 'Container', default: amounts, max: amounts })),
    undefined,
  );
  clearInterval(others);
  assert.deepEqual(object.spec.containers?.[0]?.resources, { limits: amounts });
  assert.ok(sizeHint(object) > JSON.stringify(amounts).length, `${sizeHint(object)}`);
  assert.ok(yields > 3, `${yields}`);
});
