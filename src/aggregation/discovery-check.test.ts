import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OutboundError } from '../outbound/outbound-error.js';
import type { APIService } from '../schema/generated/apiregistration.v1.js';
import { checkDiscovery } from './discovery-check.js';
import type { RemoteServers } from './remote-servers.js';

test('a server that does not answer in time is told as the one who waited for it', async () => {
  const request = async (): Promise<never> => {
    throw OutboundError.deadlineExceeded();
  };
  const server = { client: { request }, origin: new URL('https://10.0.0.1:443') };
  const servers = { reachUnverified: async () => server } as unknown as RemoteServers;
  const service = { metadata: {}, spec: { group: 'g.test', version: 'v1' } } as unknown as APIService;
  const url = 'https://10.0.0.1/apis/g.test/v1';
  assert.equal(
    (await checkDiscovery(service, servers)).message,
    `failing or missing response from ${url}: Get "${url}": context deadline exceeded (Client.Timeout exceeded while awaiting headers)`,
  );
});
