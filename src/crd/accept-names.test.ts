import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CustomResourceDefinition, CustomResourceDefinitionNames } from '../schema/generated/apiextensions.v1.js';
import { decideNames } from './accept-names.js';

const NONE: CustomResourceDefinitionNames = { plural: '', kind: '' };

const crdWith = (
  names: CustomResourceDefinitionNames,
  acceptedNames: CustomResourceDefinitionNames = NONE,
  group = 'example.test',
): CustomResourceDefinition => ({
  metadata: { name: `${names.plural}.${group}` },
  spec: { group, names, scope: 'Namespaced', versions: [] },
  status: { conditions: null, acceptedNames, storedVersions: null },
});

const FOO = {
  plural: 'foos',
  singular: 'foo',
  shortNames: ['f'],
  kind: 'Foo',
  listKind: 'FooList',
  categories: ['all'],
};

test('names nobody has are accepted, and the kind is about to be installed', () => {
  const crd = crdWith(FOO);
  const { acceptedNames, namesAccepted, established } = decideNames(crd, [crd]);
  assert.deepEqual(acceptedNames, FOO);
  assert.deepEqual([namesAccepted.status, namesAccepted.reason], ['True', 'NoConflicts']);
  assert.deepEqual([established.status, established.reason], ['False', 'Installing']);
});

test('a name that another CRD of the group has is refused, the others are accepted', () => {
  const crd = crdWith({
    plural: 'bars',
    singular: 'bar',
    shortNames: ['f', 'b', 'foo'],
    kind: 'Bar',
    listKind: 'BarList',
  });
  const { acceptedNames, namesAccepted, established } = decideNames(crd, [crd, crdWith(FOO, FOO)]);
  assert.deepEqual(acceptedNames, { plural: 'bars', singular: 'bar', kind: 'Bar', listKind: 'BarList' });
  assert.equal(namesAccepted.reason, 'ShortNamesConflict');
  assert.equal(namesAccepted.message, '["f" is already in use, "foo" is already in use]');
  assert.deepEqual([established.status, established.reason], ['False', 'NotAccepted']);
});

test('names of other groups are free', () => {
  const crd = crdWith(FOO);
  assert.equal(decideNames(crd, [crdWith(FOO, FOO, 'other.test')]).namesAccepted.status, 'True');
});

test('what is established stays so when a later name is refused', () => {
  const crd = crdWith({ ...FOO, kind: 'Bar' }, FOO);
  crd.status.conditions = [
    { type: 'Established', status: 'True', lastTransitionTime: null, reason: 'InitialNamesAccepted', message: '' },
  ];
  const bar = crdWith({ plural: 'bars', kind: 'Bar' }, { plural: 'bars', kind: 'Bar' });
  const { acceptedNames, namesAccepted, established } = decideNames(crd, [crd, bar]);
  assert.equal(acceptedNames.kind, 'Foo');
  assert.equal(namesAccepted.reason, 'KindConflict');
  assert.equal(established.status, 'True');
});
