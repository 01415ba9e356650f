import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { test } from 'node:test';
import type { KubeObject } from '../../machinery/object.js';
import { fixedKeys, parseSigningKey } from './keys.js';
import { createLegacyTokenAuthenticator, LAST_USED_LABEL } from './legacy-tokens.js';

const { privateKey } = crypto.generateKeyPairSync('rsa', { modulusLength: 2048 });
const key = parseSigningKey(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
const NOW = new Date('2030-01-02T12:00:00Z');
const none = { inc: () => undefined };
const uses = { legacy: none, stale: none, manual: none, auto: none, invalidated: none, valid: none };

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

function signed(claims: object): string {
  const text = `${part({ alg: 'RS256' })}.${part(claims)}`;
  return `${text}.${crypto.sign('sha256', Buffer.from(text), privateKey).toString('base64url')}`;
}

const token = signed({
  iss: 'kubernetes/serviceaccount',
  sub: 'system:serviceaccount:team:robot',
  'kubernetes.io/serviceaccount/namespace': 'team',
  'kubernetes.io/serviceaccount/secret.name': 'robot-token',
  'kubernetes.io/serviceaccount/service-account.name': 'robot',
  'kubernetes.io/serviceaccount/service-account.uid': 'u1',
});

/** Authenticates with the token of a secret that has these labels; a day is on the secret when `written` has resolved. */
function authenticator(labels: Record<string, string>, written: (day: string) => Promise<void>) {
  const secret = {
    metadata: { name: 'robot-token', namespace: 'team', labels },
    data: { token: Buffer.from(token).toString('base64') },
  };
  const account = { metadata: { name: 'robot', namespace: 'team', uid: 'u1' } };
  const tokens = createLegacyTokenAuthenticator({
    keys: fixedKeys([key]),
    apiAudiences: ['api'],
    objects: { get: async (resource) => (resource === 'secrets' ? secret : account) as unknown as KubeObject },
    lookup: true,
    uses,
    now: () => NOW,
    markUsed: (_secret, day) => written(day),
  });
  return async () => tokens.authenticateToken(token, ['api']);
}

test('whoever used a token of a secret finds the day on the secret', async () => {
  const steps: string[] = [];
  const authenticate = authenticator({ [LAST_USED_LABEL]: '2030-01-01' }, async (day) => {
    await new Promise((resolve) => setImmediate(resolve));
    steps.push(day);
  });
  steps.push((await authenticate())?.user.name ?? '');
  assert.deepEqual(steps, ['2030-01-02', 'system:serviceaccount:team:robot']);
});

test('the day is written once, also where another server is a day ahead', async () => {
  for (const day of ['2030-01-02', '2030-01-03']) {
    const authenticate = authenticator({ [LAST_USED_LABEL]: day }, () => assert.fail(day));
    assert.equal((await authenticate())?.user.name, 'system:serviceaccount:team:robot');
  }
});
