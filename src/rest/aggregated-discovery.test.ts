import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deployments } from '../apis/apps/deployment/definition.js';
import type { KindDefinition } from '../registry/kind.js';
import { TestApi } from '../server/testing.js';
import { aggregatedGroup } from './aggregated-discovery.js';

interface Group {
  readonly versions: readonly {
    readonly resources: readonly {
      readonly responseKind: object;
      readonly subresources: readonly { readonly subresource: string; readonly responseKind: object }[];
    }[];
  }[];
}

test('a built-in kind is told without group and version where they are those it is listed under', () => {
  const definition = deployments as unknown as KindDefinition;
  const kindsOf = (kind: KindDefinition): object => {
    const endpoints = [...new TestApi({ kinds: [kind] }).resources.all()];
    const group = aggregatedGroup('apps', [['v1', endpoints]]) as Group;
    const resource = group.versions[0]?.resources[0];
    return [resource?.responseKind, ...(resource?.subresources ?? []).map(({ responseKind }) => responseKind)];
  };
  const scale = { group: 'autoscaling', version: 'v1', kind: 'Scale' };
  const unsaid = { group: '', version: '', kind: 'Deployment' };
  assert.deepEqual(kindsOf(definition), [unsaid, scale, unsaid]);
  const own = { group: 'apps', version: 'v1', kind: 'Deployment' };
  assert.deepEqual(kindsOf({ ...definition, custom: true }), [own, scale, own]);
});
