import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod, Toleration } from '../../schema/generated/core.v1.js';
import { refusal, testAttributes } from '../test-attributes.js';
import { podTolerationRestriction } from './pod-toleration-restriction.js';

const P = 'scheduler.alpha.kubernetes.io/';
const exists = (key: string): Toleration => ({ key, operator: 'Exists' });
const run = async (annotations: Record<string, string>, tolerations: Toleration[], whitelist: Toleration[] = []) => {
  const spec = { containers: [{ name: 'a', resources: {} }], tolerations };
  const pod = { metadata: { name: 'p' }, spec } as Pod;
  const world = { namespaces: [{ metadata: { name: 'ns', annotations } }] };
  const plugin = podTolerationRestriction({ default: [exists('cluster')], whitelist });
  const why = await refusal(plugin, testAttributes({ resource: 'pods', object: pod, world }));
  return { why, tolerations: pod.spec.tolerations };
};

test('refuses tolerations beyond the namespace’s list, or else the cluster’s', async () => {
  const allowed = { [`${P}tolerationsWhitelist`]: JSON.stringify([exists('a')]), [`${P}defaultTolerations`]: '' };
  const text = 'pod tolerations (possibly merged with namespace default tolerations) conflict with its';
  assert.equal((await run(allowed, [exists('b')])).why, `${text} namespace whitelist`);
  assert.equal((await run(allowed, [exists('a')])).why, undefined);
  assert.equal((await run({}, [exists('b')], [exists('cluster')])).why, `${text} cluster whitelist`);
});

test('adds to pods the namespace’s tolerations, or else the cluster’s', async () => {
  const own = { [`${P}defaultTolerations`]: JSON.stringify([exists('n')]) };
  assert.deepEqual((await run(own, [exists('b')])).tolerations, [exists('b'), exists('n')]);
  assert.deepEqual((await run({}, [])).tolerations, [exists('cluster')]);
});

test('reads a namespace’s list as tolerations, and nothing else', async () => {
  const said = (text: string) => run({ [`${P}defaultTolerations`]: text }, []);
  assert.deepEqual((await said('[{"key":"n","operator":"Exists","value":"","more":1}]')).tolerations, [exists('n')]);
  assert.match((await said('[{"key":1}]')).why ?? '', /cannot unmarshal number/);
  assert.match((await said('{}')).why ?? '', /cannot unmarshal object into Go value of type \[\]v1\.Toleration/);
});
