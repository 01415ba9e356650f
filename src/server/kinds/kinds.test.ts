import assert from 'node:assert/strict';
import { test } from 'node:test';
import { appsKinds } from '../../apis/apps/index.js';
import { batchKinds } from '../../apis/batch/index.js';
import { clusterTrustBundle } from '../../apis/certificates/cluster-trust-bundle.js';
import { pods } from '../../apis/core/pod/definition.js';
import { podTemplates } from '../../apis/core/podtemplate/definition.js';
import { replicationControllers } from '../../apis/core/replicationcontroller/definition.js';
import type { KubeObject } from '../../machinery/object.js';
import type { KindDefinition } from '../../registry/kind.js';
import { mustType } from '../../schema/catalogue.js';
import { decodeTree } from '../../schema/json/decode.js';
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

test('images as volumes are pulled by a policy only while they may be volumes', () => {
  const withTemplates = [pods, podTemplates, replicationControllers, ...appsKinds, ...batchKinds].filter(
    ({ kind }) => kind !== 'ControllerRevision',
  ) as readonly KindDefinition[];
  const template = { spec: { volumes: [{ name: 'v', image: { reference: 'a:1' } }] } };
  for (const kind of withTemplates) {
    for (const on of [true, false]) {
      const [version] = behindGates([kind], { enabled: (gate) => on && gate === 'ImageVolume' })[0]?.versions ?? [];
      const spec = kind.kind === 'CronJob' ? { jobTemplate: { spec: { template } } } : { template };
      const whole = kind.kind === 'Pod' ? template : kind.kind === 'PodTemplate' ? { template } : { spec };
      const group = kind.group || 'core';
      const tree = structuredClone({ metadata: { name: 'a' }, ...whole });
      const type = mustType(`io.k8s.api.${group}.v1.${kind.kind}`);
      const object = decodeTree(type, tree, { strict: false }).object as KubeObject;
      version?.defaults?.(object);
      assert.equal(JSON.stringify(object).includes('"pullPolicy":"IfNotPresent"'), on, `${kind.kind} ${on}`);
    }
  }
});
