import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fieldErrorText } from '../../machinery/field-error.js';
import type { EndpointSlice } from '../../schema/generated/discovery.v1.js';
import { validateEndpointSlice, validateEndpointSliceUpdate } from './validation.js';

const features = { enabled: () => false };

const slice = (addressType: string, addresses: string[]): EndpointSlice => ({
  metadata: { name: 's', namespace: 'ns' },
  addressType,
  endpoints: [{ addresses, conditions: {} }],
  ports: [{ name: '', protocol: 'TCP', port: 80 }],
});

const errorsOf = (type: string, ...addresses: string[]): string[] =>
  validateEndpointSlice(slice(type, addresses), features).map(fieldErrorText);

test('addresses are of the type they say', () => {
  assert.deepEqual(errorsOf('IPv4', '10.0.0.1'), []);
  assert.deepEqual(errorsOf('IPv4', 'fd00::1'), [
    'endpoints[0].addresses: Invalid value: "fd00::1": must be an IPv4 address',
  ]);
  assert.deepEqual(errorsOf('IPv6', 'FD00::1'), [
    'endpoints[0].addresses[0]: Invalid value: "FD00::1": must be in canonical form ("fd00::1")',
  ]);
  assert.match(errorsOf('IPv4', '127.0.0.1')[0] ?? '', /may not be in the loopback range/);
});

test('there are no more than a slice may hold', () => {
  const many = Array.from({ length: 101 }, (_, index) => `10.0.1.${index}`);
  assert.deepEqual(errorsOf('IPv4', ...many), ['endpoints[0].addresses: Too many: 101: must have at most 100 items']);
});

test('the type stays, and endpoints that stay are not judged again', () => {
  const old = slice('IPv4', ['127.0.0.1']);
  assert.deepEqual(validateEndpointSliceUpdate(slice('IPv4', ['127.0.0.1']), old, features), []);
  const fields = validateEndpointSliceUpdate(slice('IPv6', ['fd00::1']), old, features).map(({ field }) => field);
  assert.deepEqual(fields, ['addressType']);
});
