import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Options } from './options.js';
import { unreachedStoreMistake } from './startup-checks.js';

const failureOf = (endpointReconcilerType: string, gate = false): unknown => {
  const featureGates = { enabled: () => gate };
  return unreachedStoreMistake({ misc: { endpointReconcilerType }, featureGates } as unknown as Options);
};

test('an unreachable etcd is reported by the part that needs it first', () => {
  const factory = 'error creating storage factory: context deadline exceeded';
  assert.deepEqual(failureOf('lease'), { error: `Error creating leases: ${factory}`, exitCode: 255 });
  assert.deepEqual(failureOf('none'), { error: 'context deadline exceeded', exitCode: 1 });
  assert.deepEqual(failureOf('lease', true), { error: factory, exitCode: 1 });
});
