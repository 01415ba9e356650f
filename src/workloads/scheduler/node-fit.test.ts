import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Node, Pod } from '../../schema/generated/core.v1.js';
import { misfit } from './node-fit.js';

const NODE = { metadata: { name: 'a', labels: { zone: 'north', size: '8' } }, spec: {} };
const fit = (spec: object, node: object = NODE) => misfit({ metadata: {}, spec } as Pod, node as Node);
const affinity = (...nodeSelectorTerms: object[]) => ({
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
});
const AFFINITY = "node(s) didn't match Pod's node affinity/selector";

it('a node fits by labels and by any term of an affinity', () => {
  assert.equal(fit({}), undefined);
  assert.equal(fit({ nodeSelector: { zone: 'north' } }), undefined);
  assert.equal(fit({ nodeSelector: { zone: 'south' } }), AFFINITY);
  const south = { matchExpressions: [{ key: 'zone', operator: 'In', values: ['south'] }] };
  const large = { matchExpressions: [{ key: 'size', operator: 'Gt', values: ['4'] }] };
  const named = { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['a'] }] };
  assert.equal(fit(affinity(south)), AFFINITY);
  assert.equal(fit(affinity(south, large)), undefined);
  assert.equal(fit(affinity(named)), undefined);
  assert.equal(fit(affinity({})), AFFINITY);
});

it('a node that repels takes only those who tolerate it', () => {
  const tainted = { ...NODE, spec: { taints: [{ key: 'gpu', value: 'yes', effect: 'NoSchedule' }] } };
  assert.equal(fit({}, tainted), 'node(s) had untolerated taint(s)');
  assert.equal(fit({ tolerations: [{ key: 'gpu', value: 'no' }] }, tainted), 'node(s) had untolerated taint(s)');
  assert.equal(fit({ tolerations: [{ key: 'gpu', value: 'yes' }] }, tainted), undefined);
  assert.equal(fit({ tolerations: [{ operator: 'Exists' }] }, tainted), undefined);
  assert.equal(fit({}, { ...NODE, spec: { unschedulable: true } }), 'node(s) were unschedulable');
  const preferred = { ...NODE, spec: { taints: [{ key: 'gpu', effect: 'PreferNoSchedule' }] } };
  assert.equal(fit({}, preferred), undefined);
});
