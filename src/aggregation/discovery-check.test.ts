import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pollUntil } from '../lib/testing/poll-until.js';
import { OutboundError } from '../outbound/outbound-error.js';
import type { APIService } from '../schema/generated/apiregistration.v1.js';
import { checkDiscovery } from './discovery-check.js';
import type { RemoteServers } from './remote-servers.js';

const service = { metadata: {}, spec: { group: 'g.test', version: 'v1' } } as unknown as APIService;

function serversOf(request: () => Promise<unknown>): RemoteServers {
  const server = { client: { request }, origin: new URL('https://10.0.0.1:443') };
  return { reachUnverified: async () => server } as unknown as RemoteServers;
}

test('a server is called five times at once: one answer is enough, and five that hang last no longer than one', async () => {
  const pending: ((answer: unknown) => void)[] = [];
  const request = (): Promise<unknown> => new Promise((resolve) => pending.push(resolve));
  const hanging = checkDiscovery(service, serversOf(request));
  await pollUntil(() => pending.length === 5);
  const answer = (status: number) => ({ status, body: { resume: () => undefined } });
  pending[0]?.(answer(500));
  pending[3]?.(answer(200));
  assert.equal((await hanging).status, 'True');
});

test('the error about a server that does not answer in time is the client timeout', async () => {
  const request = async (): Promise<never> => {
    throw OutboundError.deadlineExceeded();
  };
  const url = 'https://10.0.0.1/apis/g.test/v1';
  assert.equal(
    (await checkDiscovery(service, serversOf(request))).message,
    `failing or missing response from ${url}: Get "${url}": context deadline exceeded (Client.Timeout exceeded while awaiting headers)`,
  );
});
