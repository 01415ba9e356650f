import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fieldErrorText } from '../../../machinery/field-error.js';
import { mustType } from '../../../schema/catalogue.js';
import { decodeTree } from '../../../schema/json/decode.js';
import type { Node } from '../../../schema/generated/core.v1.js';
import { testContext } from '../pod/testing.js';
import { validateNode } from './validation.js';

const errorsOf = (...podCIDRs: string[]): string[] => {
  const { object } = decodeTree(mustType('io.k8s.api.core.v1.Node'), { spec: { podCIDRs } }, { strict: false });
  return validateNode(object as unknown as Node, testContext().features).map(fieldErrorText);
};

test('a node has at most one block for pods of each family', () => {
  assert.deepEqual(errorsOf('10.2.0.0/24', 'fd00::/64'), []);
  assert.deepEqual(errorsOf('10.2.0.0/24', '10.3.0.0/24'), [
    'spec.podCIDRs: Invalid value: ["10.2.0.0/24","10.3.0.0/24"]: may specify no more than one CIDR for each IP family',
  ]);
});

test('two blocks of which one is invalid give three errors', () => {
  assert.deepEqual(errorsOf('10.2.0.0/24', 'x'), [
    'spec.podCIDRs[1]: Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
    'spec.podCIDRs: Internal error: invalid PodCIDRs. failed to check with dual stack with error:invalid CIDR[1]: <nil> (invalid CIDR address: x)',
    'spec.podCIDRs: Invalid value: ["10.2.0.0/24","x"]: may specify no more than one CIDR for each IP family',
  ]);
});
