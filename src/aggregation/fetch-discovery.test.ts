import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withParents } from './fetch-discovery.js';

const resource = (name: string, namespaced = true) => ({
  name,
  namespaced,
  kind: 'K',
  singularName: '',
  verbs: ['get'],
});

test('a part without its whole gets one, of the same scope', () => {
  const told = [resource('boxes'), resource('boxes/lid'), resource('bags/strap', false), resource('bags/zip', false)];
  assert.deepEqual(withParents(told), [
    ...told,
    { name: 'bags', namespaced: false, kind: '', singularName: '', verbs: [] },
  ]);
});

test('a part of another scope than its whole is not believed', () => {
  assert.throws(() => withParents([resource('boxes', false), resource('boxes/lid')]), /scopes/);
});
