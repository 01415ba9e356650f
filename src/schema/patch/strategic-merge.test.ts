import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../machinery/object.js';
import { StatusError } from '../../machinery/status.js';
import { mustType } from '../catalogue.js';
import { strategicMergePatch } from './strategic-merge.js';

const type = mustType('io.k8s.api.core.v1.PodTemplateSpec');
const pod: JsonObject = {
  metadata: { finalizers: ['a', 'b', 'c'], labels: { x: '1', y: '2' } },
  spec: {
    containers: [
      {
        name: 'a',
        image: 'a:1',
        env: [
          { name: 'X', value: '1' },
          { name: 'Y', value: '2' },
        ],
        command: ['a', 'b'],
      },
      { name: 'b', image: 'b:1' },
    ],
    volumes: [{ name: 'v', emptyDir: {} }],
  },
};
const before = JSON.stringify(pod);
const spec = (patch: JsonObject): JsonObject => strategicMergePatch(pod, { spec: patch }, type)['spec'] as JsonObject;
const names = (patch: JsonObject): unknown => (spec(patch)['containers'] as JsonObject[]).map(({ name }) => name);
const metadata = (patch: JsonObject): JsonObject =>
  strategicMergePatch(pod, { metadata: patch }, type)['metadata'] as JsonObject;

test('items merge by key; new ones come first, in the patch’s order', () => {
  assert.deepEqual(names({ containers: [{ name: 'd' }, { name: 'c' }] }), ['d', 'c', 'a', 'b']);
  assert.deepEqual(names({ containers: [{ name: 'b', image: 'b:2' }, { name: 'c' }] }), ['a', 'b', 'c']);
  const [first] = spec({
    containers: [{ name: 'a', env: [{ name: 'X', $patch: 'delete' }, { name: 'Z' }], command: ['c'] }],
  })['containers'] as JsonObject[];
  assert.deepEqual(first, { name: 'a', image: 'a:1', env: [{ name: 'Z' }, { name: 'Y', value: '2' }], command: ['c'] });
});

test('directives delete, replace, retain and order', () => {
  assert.deepEqual(names({ containers: [{ name: 'a', $patch: 'delete' }] }), ['b']);
  assert.deepEqual(names({ containers: [{ $patch: 'replace' }, { name: 'n' }] }), ['n']);
  assert.deepEqual(
    names({ '$setElementOrder/containers': [{ name: 'b' }, { name: 'a' }], containers: [{ name: 'a' }] }),
    ['b', 'a'],
  );
  assert.deepEqual(names({ '$setElementOrder/containers': [{ name: 'b' }, { name: 'a' }] }), ['b', 'a']);
  const volumes = [{ name: 'v', $retainKeys: ['name', 'configMap'], configMap: { name: 'c' } }];
  assert.deepEqual(spec({ volumes })['volumes'], [{ name: 'v', configMap: { name: 'c' } }]);
  assert.deepEqual(metadata({ labels: { $patch: 'replace', z: '3' } })['labels'], { z: '3' });
  assert.deepEqual(metadata({ labels: { $patch: 'delete' } })['labels'], {});
});

test('lists of scalars merge as sets', () => {
  assert.deepEqual(metadata({ finalizers: ['d', 'b'] })['finalizers'], ['d', 'a', 'b', 'c']);
  assert.deepEqual(metadata({ '$deleteFromPrimitiveList/finalizers': ['b'] })['finalizers'], ['a', 'c']);
  const ordered = { '$setElementOrder/finalizers': ['c', 'n', 'a'], finalizers: ['n'] };
  assert.deepEqual(metadata(ordered)['finalizers'], ['b', 'c', 'n', 'a']);
});

test('null deletes, and is dropped from what is new', () => {
  assert.deepEqual(metadata({ labels: { x: null, z: null }, annotations: { a: null, b: 'c' } }), {
    finalizers: ['a', 'b', 'c'],
    labels: { y: '2' },
    annotations: { b: 'c' },
  });
});

test('bad patches are refused in kube-apiserver’s words and with its codes', () => {
  const refused = (patch: JsonObject, code: number, message: string): void =>
    assert.throws(
      () => strategicMergePatch(pod, patch, type),
      (error) => error instanceof StatusError && error.code === code && error.message === message,
      message,
    );
  refused(
    { spec: { containers: [{ image: 'x' }] } },
    500,
    'map: map[image:x] does not contain declared merge key: name',
  );
  refused({ spec: { $setElementOrder: 1 } }, 500, 'expected a []interface {}, but received a int64');
  refused({ spec: { $setElementOrder: [] } }, 400, 'invalid patch format of setElementOrder list');
  refused({ metadata: { $deleteFromPrimitiveList: 1 } }, 400, 'invalid patch format of primitive list');
  refused({ metadata: { $retainKeys: ['x'], labels: {} } }, 400, 'invalid patch format of retainKeys');
  refused({ metadata: { $patch: 'x' } }, 500, 'unknown patch type: x in map: map[$patch:x]');
  refused(
    { spec: { containers: [{ name: 'a', $patch: 'merge' }] } },
    500,
    'merging lists cannot yet be specified in the patch',
  );
  refused(
    { spec: { '$setElementOrder/containers': [{ name: 'b' }], containers: [{ name: 'a' }] } },
    500,
    "The order in patch list:\n[map[name:a]]\n doesn't match $setElementOrder list:\n[map[name:b]]\n",
  );
  refused(
    { spec: { '$setElementOrder/containers': [{ name: 'a' }], containers: [{ name: 'a' }, { $patch: 'merge' }] } },
    500,
    "The order in patch list:\n[map[name:a] map[$patch:merge]]\n doesn't match $setElementOrder list:\n[map[name:a]]\n",
  );
  assert.equal(JSON.stringify(pod), before, 'the patched object was changed');
});

test('a list of objects without a key has no order, and is not merged from what is to be deleted', () => {
  const role = mustType('io.k8s.api.rbac.v1.Role');
  const rules = [{ verbs: ['get'] }];
  const merge = (patch: JsonObject) => () => strategicMergePatch({ rules }, patch, role);
  assert.throws(merge({ '$setElementOrder/rules': [], rules: [] }), {
    message: 'map: map[verbs:[get]] does not contain declared merge key: ',
  });
  assert.throws(merge({ '$deleteFromPrimitiveList/rules': [] }), /cannot merge lists without merge key for struct/);
  assert.deepEqual(names({ '$deleteFromPrimitiveList/containers': [] }), ['a', 'b']);
});

test('a directive that is no text is reported as Go formats it', () => {
  for (const [directive, shown] of [
    [7, '%!s(int64=7) in map: map[$patch:7]'],
    [true, '%!s(bool=true) in map: map[$patch:true]'],
    [null, '%!s(<nil>) in map: map[$patch:<nil>]'],
    ['x', 'x in map: map[$patch:x]'],
  ]) {
    const message = `unknown patch type: ${shown as string}`;
    assert.throws(() => metadata({ labels: { $patch: directive } }), { code: 500, message });
  }
});
