import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noteExplicitEmpty } from '../../machinery/explicit-empty.js';
import type { Pod } from '../../schema/generated/core.v1.js';
import { refusal, testAttributes } from '../test-attributes.js';
import { runtimeClass } from './runtime-class.js';

const classes = [
  {
    metadata: { name: 'vm' },
    handler: 'h',
    overhead: { podFixed: { cpu: '250m' } },
    scheduling: { nodeSelector: { vm: 'yes' }, tolerations: [{ key: 'vm', operator: 'Exists' }] },
  },
];
const run = async (spec: object): Promise<{ why: string | undefined; pod: Pod }> => {
  const pod = { metadata: { name: 'p' }, spec } as Pod;
  const world = { 'runtimeclasses.node.k8s.io': classes };
  return { why: await refusal(runtimeClass, testAttributes({ resource: 'pods', object: pod, world })), pod };
};

test('refuses classes that are not there and amounts that are not the class’s', async () => {
  assert.match((await run({ runtimeClassName: 'x' })).why ?? '', /pod rejected: RuntimeClass "x" not found$/);
  const other = await run({ runtimeClassName: 'vm', overhead: { cpu: '1' } });
  assert.match(other.why ?? '', /pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead$/);
  const without = await run({ overhead: { cpu: '1' } });
  assert.match(without.why ?? '', /Pod Overhead set without corresponding RuntimeClass defined Overhead$/);
  const conflicting = await run({ runtimeClassName: 'vm', nodeSelector: { vm: 'no' } });
  assert.match(
    conflicting.why ?? '',
    /conflict: runtimeClass.scheduling.nodeSelector\[vm\] = yes; pod.spec.nodeSelector\[vm\] = no$/,
  );
});

test('an overhead of nothing is one, and an invalid name is not looked up', async () => {
  const nothing = {};
  noteExplicitEmpty(nothing, { overhead: {} });
  assert.match((await run(nothing)).why ?? '', /Pod Overhead set without corresponding RuntimeClass defined Overhead$/);
  assert.equal((await run({ runtimeClassName: '' })).why, 'resource name may not be empty');
  const message = `invalid resource name "a/%": [may not contain '/' may not contain '%']`;
  assert.equal((await run({ runtimeClassName: 'a/%' })).why, message);
});

test('sets the overhead and the scheduling of the class on a pod', async () => {
  const { why, pod } = await run({ runtimeClassName: 'vm', overhead: { cpu: '0.25' }, nodeSelector: { a: 'b' } });
  assert.equal(why, undefined);
  assert.deepEqual(pod.spec.overhead, { cpu: '250m' });
  assert.deepEqual(pod.spec.nodeSelector, { a: 'b', vm: 'yes' });
  assert.deepEqual(pod.spec.tolerations, [{ key: 'vm', operator: 'Exists' }]);
});
