import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configMaps } from '../../apis/core/configmap/definition.js';
import type { KubeObject } from '../../machinery/object.js';
import { encodeJson } from '../../schema/json/encode.js';
import { typeOf } from '../../schema/catalogue.js';
import { servedResources } from './served-resources.js';
import { TestApi } from '../testing/test-api.js';

const KIND = { group: '', version: 'v1', kind: 'ConfigMap' };
const RESOURCE = { group: '', version: 'v1', resource: 'configmaps' };

test('what a webhook is sent of a large object is encoded cooperatively, as that of a small one', async () => {
  const api = new TestApi({ kinds: [configMaps] });
  const served = servedResources(api.resources);
  const type = typeOf('', 'v1', 'ConfigMap');
  assert.ok(type);
  for (const count of [3, 50_000]) {
    const data = Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 'é']));
    const object = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a', labels: {} }, data } as KubeObject;
    const encoded = served.encode(RESOURCE, KIND, object);
    assert.equal(encoded instanceof Promise, count > 3);
    assert.equal(String(await encoded), encodeJson(type, object));
  }
  api.resources.close();
});

test('what a webhook made of an object is read as what it says it is, or fails with the reason', () => {
  const api = new TestApi({ kinds: [configMaps] });
  const served = servedResources(api.resources);
  const made = (change: object): unknown => {
    const tree = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a' }, data: { k: 'v' }, ...change };
    try {
      return served.toStored(RESOURCE, KIND, tree).kind;
    } catch (error) {
      return error instanceof Error ? error.message.replace(/ in scheme .*/, '') : error;
    }
  };
  assert.equal(made({ kind: null, apiVersion: '' }), 'ConfigMap');
  assert.equal(made({ kind: 'Secret' }), 'illegal base64 data at input byte 0');
  assert.match(String(made({ kind: 'Secret', data: {} })), /^converting \(v1\.Secret\) to /);
  assert.equal(made({ apiVersion: 'a/b/c' }), 'unexpected GroupVersion string: a/b/c');
  assert.equal(
    made({ kind: 5 }),
    "couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field .kind of type string",
  );
  assert.equal(made({ kind: 'Foo' }), 'no kind "Foo" is registered for version "v1"');
  api.resources.close();
});

test('a group of which no version is served counts as nobody’s', () => {
  const isBuiltIn = (runtimeConfig: Record<string, string>): boolean => {
    const api = new TestApi({ kinds: [configMaps], runtimeConfig });
    const known = api.resources.isBuiltIn('');
    api.resources.close();
    return known;
  };
  assert.deepEqual([isBuiltIn({}), isBuiltIn({ '/v1': 'false' })], [true, false]);
});
