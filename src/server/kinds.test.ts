import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clusterTrustBundle } from '../apis/certificates/cluster-trust-bundle.js';
import { pods } from '../apis/core/pod/definition.js';
import type { KindDefinition } from '../registry/kind.js';
import { behindGates } from './kinds.js';

const kinds = [pods, clusterTrustBundle] as readonly KindDefinition[];

test('a kind and a subresource are there while their gates are on', () => {
  const served = (...on: readonly string[]): readonly KindDefinition[] =>
    behindGates(kinds, { enabled: (gate) => on.includes(gate) });
  const all = served('ClusterTrustBundle', 'InPlacePodVerticalScaling');
  assert.deepEqual(
    all.map(({ kind, subresources }) => ({ kind, subresources })),
    kinds.map(({ kind, subresources }) => ({ kind, subresources })),
  );
  const [without, ...others] = served();
  assert.deepEqual(others, []);
  const names = Object.keys(pods.subresources ?? {});
  assert.deepEqual(
    Object.keys(without?.subresources ?? {}),
    names.filter((name) => name !== 'resize'),
  );
});
