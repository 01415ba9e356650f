import { silentLog } from '../../lib/testing/test-log.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sortedExtra } from '../../machinery/user.js';
import { StatusError } from '../../machinery/status.js';
import { AuthenticationError } from '../authenticator.js';
import { createTokenWebhook } from './token-webhook.js';

const OWN = ['https://kubernetes.default.svc'];

/** What the webhook answers to each attempt; an Error is thrown. */
async function ask(answers: readonly (object | Error)[], audiences: readonly string[] = OWN) {
  const waits: number[] = [];
  let calls = 0;
  const webhook = createTokenWebhook({
    version: 'v1',
    apiAudiences: OWN,
    post: async () => {
      const answer = answers[Math.min(calls++, answers.length - 1)];
      if (answer instanceof Error) throw answer;
      return { status: 200, contentType: 'application/json', body: Buffer.from(JSON.stringify(answer)) };
    },
    nowMs: () => 0,
    random: () => 0,
    wait: async (ms) => void waits.push(ms),
    log: silentLog,
  });
  try {
    return { result: await webhook.authenticateToken('t', audiences), calls, waits };
  } catch (error) {
    if (!(error instanceof AuthenticationError)) throw error;
    return { refused: error.message, calls, waits };
  }
}
const status = (value: object): object => ({
  apiVersion: 'authentication.k8s.io/v1',
  kind: 'TokenReview',
  status: value,
});

test('what the webhook says of somebody may be null', async () => {
  const user = { username: 'dana', groups: null, extra: { b: null, a: ['1'] } };
  const { result } = await ask([status({ authenticated: true, user })]);
  assert.deepEqual(result?.user, { name: 'dana', groups: [], extra: { b: null, a: ['1'] } });
  assert.equal(JSON.stringify(sortedExtra(result.user.extra ?? {})), '{"a":["1"],"b":null}');
});

test('who the webhook says is who it is, for audiences that fit', async () => {
  const user = { username: 'dana', uid: '42', groups: ['ops'], extra: { team: ['a'] } };
  const { result } = await ask([status({ authenticated: true, user })]);
  assert.deepEqual(result, {
    user: { name: 'dana', uid: '42', groups: ['ops'], extra: { team: ['a'] } },
    audiences: OWN,
  });
  const confirmed = status({ authenticated: true, user, audiences: ['elsewhere'] });
  assert.deepEqual((await ask([confirmed], ['elsewhere', 'x'])).result?.audiences, ['elsewhere']);
  assert.equal((await ask([confirmed])).result, undefined, 'confirmed for others only');
  assert.equal((await ask([status({ authenticated: true, user })], ['elsewhere'])).result, undefined);
});

test('a webhook that does not know a token is nobody, with its reason if it has one', async () => {
  assert.equal((await ask([status({ authenticated: false })])).result, undefined);
  assert.equal((await ask([status({ error: 'revoked' })])).refused, 'revoked');
  assert.equal(
    (await ask([{ apiVersion: 'v1', kind: 'Pod' }])).refused,
    'converting (v1.Pod) to (v1.TokenReview): unknown conversion',
  );
});

test('trouble that may pass is waited out, five times and no more', async () => {
  const broken = new StatusError(500, '', 'broken inside');
  const good = status({ authenticated: true, user: { username: 'dana' } });
  const survived = await ask([broken, broken, good]);
  assert.deepEqual([survived.result?.user.name, survived.waits], ['dana', [500, 750]]);
  const failed = await ask([broken]);
  assert.deepEqual([failed.refused, failed.calls], ['broken inside', 5]);
  assert.equal((await ask([new StatusError(503, 'ServiceUnavailable', 'busy')])).calls, 1);
  assert.equal((await ask([new Error('Post "https://h": EOF')])).calls, 1);
});
