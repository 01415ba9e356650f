import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RbacIndex } from '../../authz/rbac-index.js';
import { RbacAuthorizer } from '../../authz/rbac.js';
import { rbacKinds } from './index.js';

test('what the name of a role is made from must itself be a step of a path', () => {
  const rules: RbacIndex = { version: 1, isBound: () => false, grantsFor: () => [] };
  for (const { strategy } of rbacKinds({ authorizer: new RbacAuthorizer(rules), rules })) {
    assert.deepEqual(strategy.metadataRules?.validateName?.('..', true), ["may not be '..'"]);
    assert.deepEqual(strategy.metadataRules?.validateName?.('system:a', true), []);
  }
});
