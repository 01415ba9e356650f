import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StatusError } from '../machinery/status.js';
import { storageVersionPrecondition } from './storage-version-precondition.js';
import { answer, testExchange } from './testing.js';

const BARRIER = {
  completed: false,
  isPending: ({ resource }: { resource: string }) => resource !== 'tokenreviews',
  lastError: ({ group }: { group: string }) => (group === 'apps' ? 'no' : undefined),
};

test('only what publishing storage versions needs is written before they are published', () => {
  const status = (method: string, path: string, user?: string): number => {
    const exchange = testExchange(method, path);
    exchange.user = { name: user ?? 'somebody', groups: ['system:masters'] };
    try {
      const response = storageVersionPrecondition(BARRIER)(exchange, () => answer());
      return response instanceof Promise ? 0 : response.status;
    } catch (error) {
      if (error instanceof StatusError) return error.code;
      throw error;
    }
  };
  assert.equal(status('GET', '/api/v1/pods'), 200);
  assert.equal(status('POST', '/healthz'), 200);
  assert.equal(status('POST', '/api/v1/namespaces/default/pods'), 503);
  assert.equal(status('DELETE', '/apis/apps/v1/namespaces/default/deployments/d'), 503);
  assert.equal(status('POST', '/apis/authentication.k8s.io/v1/tokenreviews'), 200);
  assert.equal(status('POST', '/apis/internal.apiserver.k8s.io/v1alpha1/storageversions'), 200);
  assert.equal(status('PUT', '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/l'), 200);
  assert.equal(status('PUT', '/apis/coordination.k8s.io/v1/namespaces/default/leases/l'), 503);
  assert.equal(status('POST', '/api/v1/namespaces'), 503);
  assert.equal(status('POST', '/api/v1/namespaces', 'system:apiserver'), 200);
});

test('the refusal names the resource and what went wrong last', () => {
  const message = (path: string): string => {
    try {
      void storageVersionPrecondition(BARRIER)(testExchange('POST', path), () => answer());
      return '';
    } catch (error) {
      return String((error as Error).message);
    }
  };
  const wait = 'wait for storage version registration to complete for resource:';
  assert.equal(message('/api/v1/namespaces/a/pods'), `${wait} pods, last seen error: <nil>`);
  assert.equal(message('/apis/apps/v1/namespaces/a/deployments'), `${wait} deployments.apps, last seen error: no`);
});
