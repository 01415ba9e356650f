import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Options } from './options.js';
import { unreachedStoreMistake } from './startup-checks.js';

const told = (endpointReconcilerType: string, gate = false): unknown => {
  const featureGates = { enabled: () => gate };
  return unreachedStoreMistake({ misc: { endpointReconcilerType }, featureGates } as unknown as Options);
};

test('an etcd that is not reached is told of by who needs it first', () => {
  const factory = 'error creating storage factory: context deadline exceeded';
  assert.deepEqual(told('lease'), { error: `Error creating leases: ${factory}`, exitCode: 255 });
  assert.deepEqual(told('none'), { error: 'context deadline exceeded', exitCode: 1 });
  assert.deepEqual(told('lease', true), { error: factory, exitCode: 1 });
});
