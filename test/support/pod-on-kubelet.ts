import assert from 'node:assert/strict';
import type https from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TestServer } from './server.js';

/** Has `kubelet` listen as that of node `n`, with pod `p` on it. The server admits pods without service accounts. */
export async function podOnKubelet(server: TestServer, kubelet: https.Server): Promise<void> {
  await new Promise<void>((resolve) => kubelet.listen(0, '127.0.0.1', resolve));
  const status = {
    addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
    daemonEndpoints: { kubeletEndpoint: { Port: (kubelet.address() as AddressInfo).port } },
  };
  await server.request('POST', '/api/v1/nodes', { metadata: { name: 'n' } });
  await server.request('PATCH', '/api/v1/nodes/n/status', { status }, 'application/merge-patch+json');
  const pod = { metadata: { name: 'p' }, spec: { nodeName: 'n', containers: [{ name: 'c', image: 'i' }] } };
  assert.equal((await server.request('POST', '/api/v1/namespaces/default/pods', pod)).status, 201);
}
