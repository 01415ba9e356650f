import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HttpClient } from '../../outbound/http-client.js';
import { podOrigin, serviceOrigin } from './proxied-origin.js';

const IP = '10.1.1.1';
const OBJECTS: Readonly<Record<string, object>> = {
  pods: { status: { podIPs: [{ ip: IP }] } },
  services: { spec: { ports: [{ name: 'web', port: 80 }] } },
  endpoints: {
    subsets: [
      { addresses: [{ ip: IP, targetRef: { namespace: 'n', name: 'p' } }], ports: [{ name: 'web', port: 8080 }] },
    ],
  },
};
const services = {
  nodes: { others: {} as HttpClient },
  lookup: { get: async ({ resource }: { readonly resource: string }) => OBJECTS[resource] },
  random: () => 0,
} as unknown as Parameters<typeof podOrigin>[0];

const answerOf = (origin: Promise<{ readonly host: string }>): Promise<string> =>
  origin.then(
    ({ host }) => host,
    (error: Error) => error.message,
  );

test('a port that is none is reported as unreachable', async () => {
  assert.equal(await answerOf(podOrigin(services, 'n', 'p:8080')), `${IP}:8080`);
  assert.equal(
    await answerOf(podOrigin(services, 'n', 'p:99999')),
    'error trying to reach service: dial tcp: address 99999: invalid port',
  );
});

test("a service's port is meant by its number or its name, and digits beyond 64 bits are a name", async () => {
  for (const [port, wanted] of [
    ['80', `${IP}:8080`],
    ['+80', `${IP}:8080`],
    ['web', `${IP}:8080`],
    ['81', 'no service port 81 found for service "s"'],
    ['9007199254740993', 'no service port 9007199254740993 found for service "s"'],
    ['99999999999999999999', 'no endpoints available for service "s:99999999999999999999"'],
  ] as const) {
    assert.equal(await answerOf(serviceOrigin(services, 'n', `s:${port}`)), wanted);
  }
});
