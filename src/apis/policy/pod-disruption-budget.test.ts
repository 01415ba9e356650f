import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KindDefinition } from '../../registry/kind.js';
import { TestApi } from '../../server/testing/test-api.js';
import { podDisruptionBudgets } from './pod-disruption-budget.js';

const PATH = '/apis/policy/v1/namespaces/n/poddisruptionbudgets';
const former = (operator: string) => ({
  key: 'pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match',
  operator,
});

test('the label that once meant no pods is heard alone, and dropped from among others', async () => {
  const api = new TestApi({ kinds: [podDisruptionBudgets as unknown as KindDefinition] });
  const kept = async (selector: object) => {
    const { status, body } = await api.post(`${PATH}?dryRun=All`, { metadata: { name: 'b' }, spec: { selector } });
    assert.equal(status, 201);
    return body.spec['selector'];
  };
  const none = { matchExpressions: [former('Exists')] };
  assert.deepEqual(await kept(none), none);
  assert.deepEqual(await kept({ ...none, matchLabels: { a: 'b' } }), { matchLabels: { a: 'b' } });
  assert.deepEqual(await kept({ matchExpressions: [former('DoesNotExist')] }), {});
  assert.deepEqual(await kept({ matchExpressions: [former('')] }), {});
});
