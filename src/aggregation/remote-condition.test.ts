import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Service } from '../schema/generated/core.v1.js';
import type { EndpointSlice } from '../schema/generated/discovery.v1.js';
import { remoteCondition } from './remote-condition.js';

const REFERENCE = { namespace: 'n', name: 'ext', port: 443 };

const service = (type: string, ...ports: { name?: string; port: number }[]): Service => ({
  metadata: {},
  spec: { type, ports: ports.map((port) => ({ ...port, targetPort: 0 })) },
  status: { loadBalancer: {} },
});
const slice = (ready: boolean | undefined, name: string): EndpointSlice => ({
  metadata: {},
  addressType: 'IPv4',
  endpoints: [{ addresses: ['10.1.2.3'], conditions: { ...(ready !== undefined && { ready }) } }],
  ports: [{ name, port: 6443 }],
});

test('the first missing part on the path to an extension server is reported', () => {
  const https = service('ClusterIP', { name: 'https', port: 443 });
  const cases: [Service | undefined, EndpointSlice[], string, string][] = [
    [undefined, [], 'ServiceNotFound', 'service/ext in "n" is not present'],
    [service('ClusterIP', { port: 80 }), [], 'ServicePortError', 'service/ext in "n" is not listening on port 443'],
    [https, [], 'EndpointsNotFound', 'cannot find endpointslices for service/ext in "n"'],
    ...[slice(false, 'https'), slice(true, 'other')].map((one): [Service, EndpointSlice[], string, string] => [
      https,
      [one],
      'MissingEndpoints',
      'endpointslices for service/ext in "n" have no addresses with port name "https"',
    ]),
  ];
  for (const [found, slices, reason, message] of cases) {
    const condition = remoteCondition(REFERENCE, { service: found, slices });
    assert.deepEqual(condition, { type: 'Available', status: 'False', reason, message });
  }
});

test('an endpoint that does not say whether it is ready is, and a port without a name has the empty one', () => {
  const reason = (found: Service, slices: EndpointSlice[]): string | undefined =>
    remoteCondition(REFERENCE, { service: found, slices })?.reason;
  assert.equal(reason(service('ClusterIP', { port: 443 }), [slice(undefined, '')]), undefined);
  assert.equal(reason(service('ExternalName'), []), undefined);
});
