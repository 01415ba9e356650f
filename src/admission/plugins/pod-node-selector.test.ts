import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../schema/generated/core.v1.js';
import { refusal, testAttributes } from '../test-attributes.js';
import { podNodeSelector } from './pod-node-selector.js';

const run = async (text: string | undefined, nodeSelector: Record<string, string>, selectors = {}) => {
  const annotations = text === undefined ? {} : { 'scheduler.alpha.kubernetes.io/node-selector': text };
  const pod = { metadata: { name: 'p' }, spec: { nodeSelector } } as Pod;
  const world = { namespaces: [{ metadata: { name: 'ns', annotations } }] };
  const why = await refusal(podNodeSelector(selectors), testAttributes({ resource: 'pods', object: pod, world }));
  return { why, selector: pod.spec.nodeSelector };
};

test('refuses pods that want to go elsewhere', async () => {
  assert.equal(
    (await run('zone=a', { zone: 'b' })).why,
    'pods "p" is forbidden: pod node label selector conflicts with its namespace node label selector',
  );
  assert.match((await run('', { zone: 'b' }, { ns: 'zone=a' })).why ?? '', /conflict with its namespace whitelist$/);
  assert.equal((await run('zone', {})).why, 'invalid selector: [zone]');
});

test('sends pods where their namespace belongs, or else the cluster’s', async () => {
  assert.deepEqual((await run('zone=a, disk = ssd', { x: 'y' })).selector, { zone: 'a', disk: 'ssd', x: 'y' });
  const cluster = { clusterDefaultNodeSelector: 'zone=c' };
  assert.deepEqual((await run(undefined, {}, cluster)).selector, { zone: 'c' });
  assert.deepEqual((await run('', { x: 'y' }, cluster)).selector, { x: 'y' });
});

test('does not mistake an inherited member for a label', async () => {
  assert.deepEqual((await run('constructor=a', {})).selector, { constructor: 'a' });
});
