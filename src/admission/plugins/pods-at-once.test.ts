// What plugins look up for a pod is mostly in memory: then admission is synchronous.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Lookup } from '../../registry/kind.js';
import type { Pod } from '../../schema/generated/core.v1.js';
import type { StoredObject } from '../../storage/store.js';
import { createChain } from '../chain.js';
import type { AdmissionAttributes } from '../plugin.js';
import { testAttributes } from '../test-attributes.js';
import { limitRanger } from './limit-ranger.js';
import { NO_POD_SECURITY, podSecurity } from './pod-security.js';
import { priority } from './priority.js';
import { runtimeClass } from './runtime-class.js';
import { serviceAccount } from './service-account.js';

const found = (name: string, more: object = {}): never => ({ metadata: { name }, ...more }) as never;

const atHand: Lookup = {
  get: (_resource, _namespace, name) => found(name),
  list: ({ resource }) =>
    resource === 'priorityclasses'
      ? [{ object: () => found('usual', { value: 7, globalDefault: true }) } as unknown as StoredObject]
      : [],
};

const chain = createChain([
  limitRanger,
  serviceAccount({ nameSuffix: () => 'abcde', wait: () => Promise.reject(new Error('waited')) }),
  podSecurity(NO_POD_SECURITY),
  priority,
  runtimeClass,
]);

function newPod(spec: object): AdmissionAttributes {
  const object = { metadata: { name: 'p' }, spec: { containers: [{ name: 'a', image: 'i' }], ...spec } };
  const attributes = testAttributes({ resource: 'pods', object });
  return { ...attributes, context: { ...attributes.context, lookup: atHand } };
}

test('a pod is admitted without waiting where all that plugins look up is in memory', () => {
  const attributes = newPod({});
  assert.equal(chain.admit(attributes), undefined);
  assert.equal(chain.validate(attributes), undefined);
  const { spec } = attributes.object as Pod;
  assert.deepEqual([spec.serviceAccountName, spec.priority, spec.priorityClassName], ['default', 7, 'usual']);
  assert.equal(spec.containers?.[0]?.volumeMounts?.[0]?.name, 'kube-api-access-abcde');
});

test('a pod is refused without waiting where all that plugins look up is in memory', () => {
  assert.throws(() => void chain.admit(newPod({ priority: 8 })), /the integer value of priority \(8\) must not be/);
  assert.throws(
    () => void chain.validate(newPod({ serviceAccountName: 'a', overhead: {} })),
    /Pod Overhead set without/,
  );
});
