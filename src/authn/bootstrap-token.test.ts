import { silentLog } from '../lib/testing/test-log.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../machinery/object.js';
import { createBootstrapTokenAuthenticator } from './bootstrap-token.js';

const TOKEN = '07401b.f395accd246ae52d';
const NOW = Date.parse('2030-01-01T00:00:00Z');
const GOOD = {
  'token-id': '07401b',
  'token-secret': 'f395accd246ae52d',
  'usage-bootstrap-authentication': 'true',
};

async function userOf(data: Record<string, string>, more: object = {}, token = TOKEN): Promise<string | undefined> {
  const base64 = Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')]);
  const secret = {
    metadata: { name: 'bootstrap-token-07401b' },
    type: 'bootstrap.kubernetes.io/token',
    data: Object.fromEntries(base64),
    ...more,
  };
  const authenticator = createBootstrapTokenAuthenticator({
    secret: async (name) => (name === secret.metadata.name ? (secret as KubeObject) : undefined),
    nowMs: () => NOW,
    log: silentLog,
  });
  const result = await authenticator.authenticateToken(token, []);
  return result === undefined ? undefined : `${result.user.name} ${result.user.groups.join(' ')}`;
}

test('a secret of the right name, type and content is a node that joins', async () => {
  assert.equal(await userOf(GOOD), 'system:bootstrap:07401b system:bootstrappers');
  assert.equal(
    await userOf({ ...GOOD, 'auth-extra-groups': 'system:bootstrappers:b,system:bootstrappers:a' }),
    'system:bootstrap:07401b system:bootstrappers system:bootstrappers:a system:bootstrappers:b',
  );
  assert.notEqual(await userOf({ ...GOOD, expiration: '2030-01-01T00:00:01Z' }), undefined);
});

test('everything else is nobody, without an error: another way may know the token', async () => {
  for (const [why, data, more, token] of [
    ['expired', { ...GOOD, expiration: '2030-01-01T00:00:00Z' }],
    ['an expiration that is no time', { ...GOOD, expiration: 'soon' }],
    ['not for authentication', { ...GOOD, 'usage-bootstrap-authentication': 'yes' }],
    ['another id', { ...GOOD, 'token-id': '07401c' }],
    ['another secret', { ...GOOD, 'token-secret': 'f395accd246ae52e' }],
    ['groups beyond bootstrappers', { ...GOOD, 'auth-extra-groups': 'system:masters' }],
    ['an empty group', { ...GOOD, 'auth-extra-groups': 'system:bootstrappers:' }],
    ['another type', GOOD, { type: 'Opaque' }],
    [
      'being deleted',
      GOOD,
      { metadata: { name: 'bootstrap-token-07401b', deletionTimestamp: '2029-01-01T00:00:00Z' } },
    ],
    ['another shape of token', GOOD, {}, '07401B.f395accd246ae52d'],
    ['no such secret', GOOD, {}, '07401c.f395accd246ae52d'],
  ] as const) {
    assert.equal(await userOf(data, more, token), undefined, why);
  }
});
