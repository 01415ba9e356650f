import assert from 'node:assert/strict';
import { test } from 'node:test';
import { apiEnablement } from './api-enablement.js';

const AT_1_32 = { version: { major: 1, minor: 32 }, forwardCompatible: false, namedForwardCompatible: false };

test('the narrower setting wins, and the default where none speaks', () => {
  const apis = apiEnablement({
    'api/all': 'false',
    'api/ga': 'true',
    'apps/v1': 'false',
    'apps/v1/deployments': 'true',
  });
  assert.equal(apis.version('batch', 'v1', true), true);
  assert.equal(apis.version('storage.k8s.io', 'v1beta1', true), false);
  assert.equal(apis.version('apps', 'v1', true), false);
  assert.equal(apis.resource('apps', 'v1', 'deployments', true), true);
  assert.equal(apis.resource('apps', 'v1', 'daemonsets', true), false);
  assert.equal(apiEnablement({}).version('storage.k8s.io', 'v1beta1', false), false);
});

test('an older release does not serve what came after it', () => {
  const apis = apiEnablement({}, AT_1_32);
  assert.equal(apis.resource('networking.k8s.io', 'v1', 'ipaddresses', true), false);
  assert.equal(apis.resource('networking.k8s.io', 'v1', 'ingresses', true), true);
});

test('forward compatibility serves newer versions of what is on, and what is named', () => {
  const beta = { 'networking.k8s.io/v1beta1': 'true' };
  const forward = apiEnablement(beta, { ...AT_1_32, forwardCompatible: true });
  assert.equal(forward.resource('networking.k8s.io', 'v1', 'ipaddresses', true), true);
  assert.equal(forward.resource('resource.k8s.io', 'v1', 'deviceclasses', true), false);
  const named = apiEnablement({ 'resource.k8s.io/v1': 'true' }, { ...AT_1_32, namedForwardCompatible: true });
  assert.equal(named.resource('resource.k8s.io', 'v1', 'deviceclasses', true), true);
});
