import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isAllInOne, resourcesOf, withParents } from './fetch-discovery.js';

const resource = (name: string, namespaced = true) => ({
  name,
  namespaced,
  kind: 'K',
  singularName: '',
  verbs: ['get'],
});

test('a part without its whole gets one, of the same scope', () => {
  const listed = [resource('boxes'), resource('boxes/lid'), resource('bags/strap', false), resource('bags/zip', false)];
  assert.deepEqual(withParents(listed), [
    ...listed,
    { name: 'bags', namespaced: false, kind: '', singularName: '', verbs: null },
  ]);
});

test('a part of another scope than its whole is not believed', () => {
  assert.throws(() => withParents([resource('boxes', false), resource('boxes/lid')]), /scopes/);
});

test('the document is known by all its type says', () => {
  const document = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
  assert.equal(isAllInOne(document), true);
  assert.equal(isAllInOne(document.replace('v=v2', 'V=v2beta1').replaceAll(';', ' ; ')), true);
  assert.equal(isAllInOne(`${document};charset=utf-8`), true);
  for (const other of [
    document.replace('application/json', 'application/vnd.kubernetes.protobuf'),
    document.replace('v=v2', 'v=v3'),
    document.replace('g=apidiscovery.k8s.io;', ''),
    document.replace('as=', 'is='),
    document.toUpperCase(),
    '',
  ]) {
    assert.equal(isAllInOne(other), false, other);
  }
});

test('of duplicates in a document the last counts', () => {
  const version = (name: string, plural: string) => ({
    version: name,
    resources: [{ resource: plural, scope: '', singularResource: '', verbs: [] }],
  });
  const items = [
    { metadata: { name: 'a' }, versions: [version('v1', 'first'), version('v2', 'only'), version('v1', 'second')] },
    { metadata: { name: 'b' }, versions: [version('v1', 'other')] },
    { metadata: { name: 'a' }, versions: [version('v1', 'third')] },
  ];
  const namesIn = (group: string, wanted: string) =>
    resourcesOf({ metadata: {}, items }, group, wanted).map((one) => one.resource);
  assert.deepEqual(namesIn('a', 'v1'), ['third']);
  assert.deepEqual(namesIn('a', 'v2'), ['only']);
  assert.deepEqual(namesIn('a', 'v3'), []);
});
