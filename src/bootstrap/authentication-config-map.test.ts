import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AuthenticationTrust } from '../authn/trust.js';
import type { KubeObject } from '../machinery/object.js';
import type { ServerClient } from '../registry/server-client.js';
import { ensureAuthenticationConfigMap } from './authentication-config-map.js';

async function created(trust: AuthenticationTrust): Promise<KubeObject[]> {
  const made: KubeObject[] = [];
  const client: Pick<ServerClient, 'get' | 'create'> = {
    get: async () => undefined,
    create: async (_resource, object) => made.push(object) > 0,
  };
  await ensureAuthenticationConfigMap(client as ServerClient, trust, () => 0);
  return made;
}

test('extension servers learn whose certificates count, and nothing where none do', async () => {
  assert.deepEqual(await created({}), []);
  const clientCa = { current: () => ({ pem: 'PEM' }) } as AuthenticationTrust['clientCa'];
  const [made] = await created({ ...(clientCa && { clientCa }) });
  assert.deepEqual((made as { data?: object }).data, { 'client-ca-file': 'PEM' });
});
