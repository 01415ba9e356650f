import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KindDefinition } from '../../registry/kind.js';
import { TestApi } from '../../server/testing/test-api.js';
import { resourceSlices } from './resource-slice.js';

test('an unknown field selector is refused in the name of the requested version', async () => {
  const versions = resourceSlices.versions.map((version) => ({ ...version, enabledByDefault: true }));
  const api = new TestApi({ kinds: [{ ...resourceSlices, versions } as unknown as KindDefinition] });
  for (const version of ['v1', 'v1beta1']) {
    const path = `/apis/resource.k8s.io/${version}/resourceslices`;
    assert.equal((await api.get(`${path}?fieldSelector=spec.driver%3Dd`)).status, 200);
    const { status, body } = await api.get(`${path}?fieldSelector=metadata.namespace%3Dn`);
    assert.equal(status, 400);
    const kind = `resource.k8s.io/${version}, Kind=ResourceSlice`;
    assert.equal(body.message, `field label not supported for ${kind}: metadata.namespace`);
  }
});

test('no devices are none, in every version and to whoever applies some', async () => {
  const versions = resourceSlices.versions.map((version) => ({ ...version, enabledByDefault: true }));
  const api = new TestApi({ kinds: [{ ...resourceSlices, versions } as unknown as KindDefinition] });
  const spec = { driver: 'd.test', nodeName: 'n', pool: { name: 'p', generation: 1, resourceSliceCount: 1 } };
  for (const version of ['v1', 'v1beta1']) {
    const path = `/apis/resource.k8s.io/${version}/resourceslices`;
    const name = `s-${version}`;
    const slice = { apiVersion: `resource.k8s.io/${version}`, kind: 'ResourceSlice', metadata: { name } };
    const { body } = await api.post(path, { ...slice, spec: { ...spec, devices: [] } });
    assert.equal((body as unknown as { spec: { devices: unknown } }).spec.devices, null);
    const applied = await api.send('PATCH', `${path}/${name}?fieldManager=m`, {
      headers: { 'content-type': 'application/apply-patch+yaml' },
      body: { ...slice, spec: { ...spec, devices: [] } },
    });
    assert.equal(applied.status, 409);
  }
});
