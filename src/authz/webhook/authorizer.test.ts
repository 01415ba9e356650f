import { silentLog } from '../../lib/testing/test-log.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ReviewCondition } from '../../cel/review-condition.js';
import type { Cancellation } from '../../lib/async/cancellation.js';
import { StatusError } from '../../machinery/status.js';
import type { AuthorizationAttributes, AuthorizationResult } from '../authorizer.js';
import { webhookAuthorizer, type WebhookAuthorizerOptions } from './authorizer.js';

const question: AuthorizationAttributes = {
  user: { name: 'alice', groups: ['dev'] },
  verb: 'get',
  resourceRequest: true,
  apiGroup: '',
  apiVersion: 'v1',
  resource: 'pods',
  subresource: '',
  namespace: 'a',
  name: 'p',
  path: '/api/v1/namespaces/a/pods/p',
};

type Answer = object | string | Error;

function setUp(over: Partial<WebhookAuthorizerOptions> = {}) {
  const calls: { readonly body: Record<string, unknown>; readonly answer: (answer: Answer) => void }[] = [];
  const seen: string[] = [];
  const waits: number[] = [];
  const clock = { ms: 0 };
  const authorizer = webhookAuthorizer({
    name: 'judge',
    version: 'v1',
    authorizedTtlMs: 300,
    unauthorizedTtlMs: 100,
    failurePolicy: 'NoOpinion',
    matchConditions: [],
    post: (body, signal) =>
      new Promise((resolve, reject) => {
        signal?.addEventListener('abort', () => reject(new Error('context canceled')));
        const answer = (outcome: Answer): void => {
          if (outcome instanceof Error) return reject(outcome);
          const text = typeof outcome === 'string' ? outcome : JSON.stringify({ status: outcome });
          resolve({ status: 200, contentType: 'application/json', body: Buffer.from(text) });
        };
        calls.push({ body: JSON.parse(body) as Record<string, unknown>, answer });
      }),
    metrics: {
      roundTrip: (_name, result) => seen.push(result),
      failedOpen: (_name, result) => seen.push(`fail open: ${result}`),
      conditions: (_name, { failed, excluded }) => seen.push(`conditions: ${failed} ${excluded}`),
    },
    nowMs: () => clock.ms,
    random: () => 0,
    wait: async (ms) => void waits.push(ms),
    log: silentLog,
    ...over,
  });
  const ask = async (
    more: Partial<AuthorizationAttributes> = {},
    waiting?: Cancellation,
  ): Promise<AuthorizationResult> => authorizer.authorize({ ...question, ...more }, waiting);
  /** Authorizes, and has the webhook answer each of its calls. */
  const settled = async (answers: readonly Answer[], more: Partial<AuthorizationAttributes> = {}) => {
    const result = ask(more);
    for (const answer of answers) {
      // One tick: all that is awaited between two attempts resolves at once here.
      await new Promise((resolve) => setImmediate(resolve));
      calls.at(-1)?.answer(answer);
    }
    return result;
  };
  return { calls, seen, waits, clock, ask, settled };
}

test('a webhook that fails is answered for by its failure policy, and the failure is reported', async () => {
  const broken = new Error('Post "https://hook/?timeout=5s": context deadline exceeded');
  const open = setUp();
  assert.deepEqual(await open.settled([broken]), {
    decision: 'no-opinion',
    reason: '',
    evaluationError: broken.message,
  });
  assert.deepEqual(open.seen, ['timeout', 'fail open: timeout']);
  const closed = setUp({ failurePolicy: 'Deny' });
  assert.equal((await closed.settled(['no review'])).decision, 'deny');
  assert.deepEqual(closed.seen, ['error']);
  assert.equal(
    (await closed.settled([''])).evaluationError,
    '0-length response with status code: 200 and content type: application/json',
  );
});

test('a webhook that fails is called five times, with longer and longer waits; one that refuses only once', async () => {
  const stumbling = setUp();
  const stumble = new StatusError(500, 'InternalError', 'oh');
  const result = await stumbling.settled([stumble, stumble, stumble, stumble, stumble]);
  assert.equal(result.evaluationError, 'oh');
  assert.deepEqual(stumbling.waits, [500, 750, 1125, 1687.5]);
  assert.deepEqual(stumbling.seen, ['error', 'error', 'error', 'error', 'error', 'fail open: error']);
  const recovered = setUp();
  assert.equal((await recovered.settled([stumble, { allowed: true }])).decision, 'allow');
  const refusing = setUp();
  await refusing.settled([new StatusError(503, 'ServiceUnavailable', 'no')]);
  assert.equal(refusing.calls.length, 1);
});

test('identical reviews in flight are sent once; others are not held up', async () => {
  const { calls, ask } = setUp();
  const same = [ask(), ask(), ask()];
  const other = ask({ name: 'q' });
  assert.equal(calls.length, 2);
  calls[1]?.answer({ allowed: true });
  assert.equal((await other).decision, 'allow');
  calls[0]?.answer({ denied: true, reason: 'because' });
  for (const result of await Promise.all(same)) assert.deepEqual(result, { decision: 'deny', reason: 'because' });
});

test('answers are cached for their TTL, failures and long reviews never', async () => {
  const { calls, clock, ask, settled } = setUp();
  await settled([{ allowed: true }]);
  clock.ms = 299;
  assert.equal((await ask()).decision, 'allow');
  clock.ms = 300;
  await settled([{ allowed: false }]);
  assert.equal(calls.length, 2);
  clock.ms = 399;
  assert.equal((await ask()).decision, 'no-opinion');
  clock.ms = 400;
  await settled([new Error('down')]);
  await settled([{ allowed: true }]);
  assert.equal(calls.length, 4);
  const long = { name: 'x'.repeat(10_000) };
  await settled([{ allowed: true }], long);
  await settled([{ allowed: true }], long);
  assert.equal(calls.length, 6);
  const forgetful = setUp({ authorizedTtlMs: 0 });
  await forgetful.settled([{ allowed: true }]);
  await forgetful.settled([{ allowed: true }]);
  assert.equal(forgetful.calls.length, 2);
});

test('who says yes and no at once denies, with an error', async () => {
  const { settled } = setUp();
  assert.deepEqual(await settled([{ allowed: true, denied: true, reason: 'r' }]), {
    decision: 'deny',
    reason: 'r',
    evaluationError: 'webhook subject access review returned both allow and deny response',
  });
});

const condition = (result: boolean | string): ReviewCondition => ({
  expression: 'x',
  evaluate: () => (typeof result === 'string' ? { error: result } : { holds: result }),
});

test('a condition that does not hold wins over errors, errors count as the failure policy says', async () => {
  const excluded = setUp({ matchConditions: [condition('e1'), condition(false)], failurePolicy: 'Deny' });
  assert.deepEqual(await excluded.ask(), { decision: 'no-opinion', reason: '' });
  assert.deepEqual(excluded.seen, ['conditions: true true']);
  const failed = setUp({ matchConditions: [condition('e1'), condition(true), condition('e2')], failurePolicy: 'Deny' });
  assert.deepEqual(await failed.ask(), { decision: 'deny', reason: '', evaluationError: '[e1, e2]' });
  assert.equal(failed.calls.length, 0);
});

test('the older review calls its groups group; what is empty is left out; comparisons of labels are left out', async () => {
  const { calls, settled } = setUp({ version: 'v1beta1' });
  await settled([{}], {
    user: { name: 'alice', uid: 'u', groups: ['dev'], extra: { k: ['v'] } },
    fieldSelector: [{ field: 'f', operator: '!=', value: 'v' }],
    labelSelector: [
      { key: 'a', operator: 'gt', values: ['1'] },
      { key: 'b', operator: '!', values: [] },
    ],
  });
  assert.deepEqual(calls[0]?.body, {
    kind: 'SubjectAccessReview',
    apiVersion: 'authorization.k8s.io/v1beta1',
    metadata: {},
    spec: {
      resourceAttributes: {
        namespace: 'a',
        verb: 'get',
        version: 'v1',
        resource: 'pods',
        name: 'p',
        fieldSelector: { requirements: [{ key: 'f', operator: 'NotIn', values: ['v'] }] },
        labelSelector: { requirements: [{ key: 'b', operator: 'DoesNotExist' }] },
      },
      user: 'alice',
      group: ['dev'],
      extra: { k: ['v'] },
      uid: 'u',
    },
    status: { allowed: false },
  });
});

test('a call ends when the last request that waits for it does, and is no failure then; who comes next calls anew', async () => {
  const { calls, seen, ask } = setUp();
  const [one, other] = [new AbortController(), new AbortController()];
  const both = [ask({}, one), ask({}, other)];
  one.abort();
  assert.deepEqual(seen, []);
  other.abort();
  const again = ask();
  assert.equal((await Promise.all(both))[0]?.evaluationError, 'context canceled');
  assert.deepEqual(seen, ['canceled']);
  assert.equal(calls.length, 2);
  calls[1]?.answer({ allowed: true });
  assert.equal((await again).decision, 'allow');
});

test('a failing webhook is not called again for a request that is over', async () => {
  const over = new AbortController();
  const { calls, ask } = setUp({ wait: () => new Promise(() => undefined) });
  const result = ask({}, over);
  calls[0]?.answer(new StatusError(500, 'InternalError', 'oh'));
  await new Promise((resolve) => setImmediate(resolve));
  over.abort();
  assert.equal((await result).evaluationError, 'oh');
  assert.equal(calls.length, 1);
});
