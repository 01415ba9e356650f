import { silentLog, silentLogs } from '../lib/testing/test-log.js';
import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { AuthenticationError, type RequestAuthenticator } from '../authn/authenticator.js';
import type { AuthorizationAttributes, AuthorizationResult, Authorizer } from '../authz/authorizer.js';
import { Abortable } from '../lib/async/abortable.js';
import { type HttpRequest, type HttpResponse, isStream, type ResponseSink } from '../lib/http/http.js';
import { createLogs } from '../lib/telemetry/log.js';
import { MetricRegistry } from '../lib/telemetry/metrics.js';
import { pollUntil } from '../lib/testing/poll-until.js';
import { StatusError } from '../machinery/status.js';
import type { UserInfo } from '../machinery/user.js';
import { buildChain, type ChainOptions } from './chain.js';
import { cors } from './cors.js';
import { type Draining, InFlight, OpenWatches } from './draining.js';
import type { Handler } from './exchange.js';
import { goaway } from './goaway.js';
import { authorization } from './authorization.js';
import { impersonation } from './impersonation.js';
import { maxInFlight } from './max-in-flight.js';
import { statusAsJson } from './plain-response.js';
import { createRequestMetrics } from './request-metrics.js';
import { answer, testExchange, testRequest } from './testing.js';
import { enforceDeadline, requestDeadline } from './timeout.js';
import { warningHeaders } from './warnings.js';

const alice: UserInfo = { name: 'alice', groups: ['dev', 'system:authenticated'] };
const authenticateAs = (user: UserInfo | undefined): RequestAuthenticator => ({
  authenticate: async () => (user === undefined ? undefined : { user }),
});
const authorizeBy = (allow: (a: AuthorizationAttributes) => boolean): Authorizer => ({
  authorize: (a): AuthorizationResult => ({ decision: allow(a) ? 'allow' : 'no-opinion', reason: '' }),
  rulesFor: () => ({ resourceRules: [], nonResourceRules: [], incomplete: false }),
});
const body = (response: HttpResponse | undefined): Record<string, unknown> =>
  JSON.parse(typeof response?.body === 'string' ? response.body : '') as Record<string, unknown>;

interface TestDraining extends Draining {
  notAcceptingNewRequests: boolean;
}

function chain(over: Partial<ChainOptions>, handler: Handler): (request: HttpRequest) => Promise<HttpResponse> {
  const draining: Draining = { notAcceptingNewRequests: false, requests: new InFlight(), watches: new OpenWatches() };
  const run = buildChain(
    {
      logs: silentLogs,
      metrics: createRequestMetrics(new MetricRegistry()),
      draining,
      authenticator: authenticateAs(alice),
      authorizer: authorizeBy(() => true),
      requestTimeoutMs: 1000,
      maxRequestsInFlight: 0,
      maxMutatingRequestsInFlight: 0,
      corsAllowedOrigins: [],
      hstsDirectives: [],
      goawayChance: 0,
      shutdownSendRetryAfter: true,
      ...over,
    },
    handler,
  );
  return async (request) => await run(request);
}

test('an answer has the audit id, the cache rule, HSTS and its warnings', async () => {
  const run = chain({ hstsDirectives: ['max-age=1', 'includeSubDomains'] }, (exchange) => {
    exchange.warn('old');
    exchange.warn('old');
    return answer();
  });
  const { headers } = await run(testRequest('GET', '/x', { headers: { 'audit-id': 'mine' } }));
  assert.deepEqual(headers, {
    'audit-id': 'mine',
    'strict-transport-security': 'max-age=1; includeSubDomains',
    'cache-control': 'no-cache, private',
    warning: ['299 - "old"'],
  });
  assert.match(String((await run(testRequest('GET', '/x'))).headers['audit-id']), /^[0-9a-f-]{36}$/);
});

test('an unexpected error answers 500 and is logged with the audit id and where it came from', async () => {
  let log = '';
  const logs = createLogs({ verbosity: 0, write: (_, text) => (log += text) });
  const run = chain({ logs }, () => {
    throw new Error('our bug');
  });
  const response = await run(testRequest('GET', '/x', { headers: { 'audit-id': 'A1' } }));
  assert.equal(response.status, 500);
  assert.equal(response.body, 'This request caused apiserver to panic. Look in the logs for details.\n');
  logs.flush();
  assert.match(
    log,
    /^E\d{4} [\d:.]+ +\d+ panic-recovery.ts\] "apiserver panic'd" err="our bug" .*auditID="A1" stack=".*filters\.test/,
  );
});

test('a refusal whose code no status line can say is cut, and counts as nothing served', async () => {
  const registry = new MetricRegistry();
  let finished = 0;
  const run = chain({ metrics: createRequestMetrics(registry) }, (exchange) => {
    exchange.servedBy = 'resource';
    exchange.onFinish(() => (finished += 1));
    throw new StatusError(Number(exchange.request.query.get('code')), 'Why', 'no');
  });
  const at = '/api/v1/namespaces/a/pods/b?code=';
  for (const code of ['99', '1000', '2147483647']) {
    await assert.rejects(async () => run(testRequest('GET', at + code)), {
      message: `invalid WriteHeader code ${code}`,
    });
  }
  assert.equal((await run(testRequest('GET', `${at}999`))).status, 999);
  assert.equal(finished, 4);
  assert.deepEqual(
    registry
      .text()
      .split('\n')
      .filter((line) => line.startsWith('apiserver_request_total{'))
      .map((line) => /code="([0-9]+)"/.exec(line)?.[1]),
    ['999'],
  );
});

test('nobody known answers 401, and ends the connection on HTTP/2', async () => {
  const refusing: RequestAuthenticator = {
    authenticate: () => Promise.reject(new AuthenticationError('bad token')),
  };
  for (const authenticator of [authenticateAs(undefined), refusing]) {
    const response = await chain({ authenticator }, () => answer())(testRequest('GET', '/x', { httpVersion: '2.0' }));
    assert.equal(response.status, 401);
    assert.equal(response.headers.connection, 'close');
    assert.deepEqual(body(response), {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'Unauthorized',
      reason: 'Unauthorized',
      code: 401,
    });
  }
});

const FORBIDDEN: readonly (readonly [string, string, string])[] = [
  [
    'GET',
    '/api/v1/namespaces/x/pods',
    'pods is forbidden: User "alice" cannot list resource "pods" in API group "" in the namespace "x"',
  ],
  ['GET', '/foo', 'forbidden: User "alice" cannot get path "/foo"'],
  [
    'DELETE',
    '/api/v1/nodes',
    'nodes is forbidden: User "alice" cannot deletecollection resource "nodes" in API group "" at the cluster scope',
  ],
  [
    'GET',
    '/apis/apps/v1/namespaces/x/deployments/y/scale',
    'deployments.apps "y" is forbidden: User "alice" cannot get resource "deployments/scale" in API group "apps" in the namespace "x"',
  ],
  ['GET', '/a<b>&', 'forbidden: User "alice" cannot get path "/a&lt;b&gt;&amp;"'],
];
for (const [method, target, message] of FORBIDDEN) {
  test(`${method} ${target} without permission`, async () => {
    const response = await chain({ authorizer: authorizeBy(() => false) }, () => answer())(testRequest(method, target));
    assert.equal(response.status, 403);
    assert.equal(body(response).message, message);
    assert.equal(response.headers['x-content-type-options'], 'nosniff');
  });
}

test('headers of a front proxy are gone once it is settled who somebody is', async () => {
  let seen: unknown;
  const run = chain({ identityHeaders: { names: ['x-my-user'], prefixes: ['x-my-extra-'] } }, ({ request }) => {
    seen = request.headers;
    return answer();
  });
  const headers = Object.freeze({ 'x-my-user': 'root', 'x-my-extra-scope': 'all', 'x-mine': 'kept' });
  await run(testRequest('GET', '/version', { headers }));
  assert.deepEqual({ ...(seen as object) }, { 'x-mine': 'kept' });
  // Another request may share them, and must still be known by them.
  assert.deepEqual(Object.keys(headers), ['x-my-user', 'x-my-extra-scope', 'x-mine']);
});

test('impersonation waits for no decision after the timeout of its request, and checks no further', async () => {
  const checked: string[] = [];
  const time = new AbortController();
  const authorizer: Authorizer = {
    ...authorizeBy(() => true),
    authorize: ({ resource, name }) => {
      checked.push(`${resource}/${name}`);
      if (resource === 'users') return Promise.resolve({ decision: 'allow', reason: '' });
      time.abort(new Error('over'));
      return new Promise(() => undefined);
    },
  };
  const filter = impersonation({ authorizer, renderStatus: statusAsJson, log: silentLog });
  const headers = { 'impersonate-user': 'carol', 'impersonate-group': 'a', 'impersonate-uid': 'u1' };
  const exchange = testExchange('GET', '/api', { headers, signal: time.signal });
  exchange.user = alice;
  const response = await filter(exchange, () => answer());
  assert.deepEqual([response.status, checked], [403, ['users/carol', 'groups/a']]);
});

test('impersonation authorizes each part and then acts as that user', async () => {
  const checked: string[] = [];
  const authorizer = authorizeBy((a) => {
    checked.push(`${a.verb} ${a.apiGroup}/${a.resource}/${a.subresource} ${a.namespace}/${a.name}`);
    return true;
  });
  const filter = impersonation({ authorizer, renderStatus: statusAsJson, log: silentLog });
  const raw = [
    'Impersonate-User',
    'carol',
    'Impersonate-Group',
    'a, b',
    'Impersonate-Group',
    'c',
    'Impersonate-Extra-Some%2fKey',
    'v',
    'Impersonate-Uid',
    'u1',
  ];
  const headers = {
    'impersonate-user': 'carol',
    'impersonate-group': 'a, b, c',
    'impersonate-extra-some%2fkey': 'v',
    'impersonate-uid': 'u1',
  };
  const exchange = testExchange('GET', '/api', { headers, rawHeaders: raw });
  exchange.user = alice;
  await filter(exchange, () => answer());
  assert.deepEqual(exchange.user, {
    name: 'carol',
    groups: ['a, b', 'c', 'system:authenticated'],
    uid: 'u1',
    extra: { 'some/key': ['v'] },
  });
  assert.equal(exchange.impersonator, alice);
  assert.deepEqual(checked, [
    'impersonate /users/ /carol',
    'impersonate /groups/ /a, b',
    'impersonate /groups/ /c',
    'impersonate authentication.k8s.io/userextras/some/key /v',
    'impersonate authentication.k8s.io/uids/ /u1',
  ]);
});

test('of an impersonated name sent twice the first counts, and extra keys may be any word', async () => {
  const filter = impersonation({
    authorizer: authorizeBy(() => true),
    renderStatus: statusAsJson,
    log: silentLog,
  });
  const raw = ['Impersonate-User', 'carol', 'impersonate-user', 'dave', 'Impersonate-Uid', '1', 'Impersonate-Uid', '2'];
  const headers = {
    'impersonate-user': 'carol, dave',
    'impersonate-uid': '1, 2',
    'impersonate-extra-constructor': 'a',
    'impersonate-extra-__proto__': 'b',
  };
  for (const name of ['constructor', '__proto__']) raw.push(`Impersonate-Extra-${name}`, name);
  const exchange = testExchange('GET', '/api', { headers, rawHeaders: raw });
  exchange.user = alice;
  await filter(exchange, () => answer());
  assert.deepEqual([exchange.user.name, exchange.user.uid], ['carol', '1']);
  assert.deepEqual(Object.entries(exchange.user.extra ?? {}), [
    ['constructor', ['constructor']],
    ['__proto__', ['__proto__']],
  ]);
});

test('names of whom to act as are UTF-8', async () => {
  const filter = impersonation({
    authorizer: authorizeBy(() => true),
    renderStatus: statusAsJson,
    log: silentLog,
  });
  const exchange = testExchange('GET', '/api', { headers: { 'impersonate-user': 'ren\xc3\xa9e' } });
  exchange.user = alice;
  await filter(exchange, () => answer());
  assert.equal(exchange.user.name, 'renée');
});

test('impersonation of a service account brings its groups; groups alone are refused', async () => {
  const filter = impersonation({
    authorizer: authorizeBy(() => true),
    renderStatus: statusAsJson,
    log: silentLog,
  });
  const account = testExchange('GET', '/api', { headers: { 'impersonate-user': 'system:serviceaccount:ns:sa' } });
  account.user = alice;
  await filter(account, () => answer());
  assert.deepEqual(account.user?.groups, [
    'system:serviceaccounts',
    'system:serviceaccounts:ns',
    'system:authenticated',
  ]);
  const groups = testExchange('GET', '/api/v1/namespaces/default', { headers: { 'impersonate-group': 'g1' } });
  groups.user = alice;
  const response = await filter(groups, () => answer());
  assert.equal(
    response.body,
    'Internal Server Error: "/api/v1/namespaces/default": requested [{Group  g1    }] without impersonating a user\n',
  );
});

test('beyond the limit in flight 429, except for administrators', async () => {
  const filter = maxInFlight({
    readOnlyLimit: 1,
    mutatingLimit: 0,
    observe: () => undefined,
    onRejected: () => undefined,
  });
  assert.ok(filter);
  const first = testExchange('GET', '/api/v1/pods');
  await filter(first, () => answer());
  const second = await filter(testExchange('GET', '/api/v1/pods'), () => answer());
  assert.equal(second.status, 429);
  assert.equal(second.headers['retry-after'], '1');
  assert.equal(second.body, 'Too many requests, please try again later.\n');
  const master = testExchange('GET', '/api/v1/pods');
  master.user = { name: 'root', groups: ['system:masters'] };
  assert.equal((await filter(master, () => answer())).status, 200);
  assert.equal((await filter(testExchange('GET', '/api/v1/pods?watch=1'), () => answer())).status, 200);
  first.finish(answer());
  assert.equal((await filter(testExchange('GET', '/api/v1/pods'), () => answer())).status, 200);
});

test('a request that takes too long answers 504 and its signal aborts', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  let cancelled = false;
  const exchange = testExchange('GET', '/api/v1/pods?timeout=2s', { cancel: () => (cancelled = true) });
  const results: HttpResponse[] = [];
  const deadline = requestDeadline(60_000, statusAsJson);
  const enforce = enforceDeadline(() => undefined);
  const running = Promise.resolve(deadline(exchange, (e) => enforce(e, () => new Promise(() => undefined)))).then(
    (response) => results.push(response),
  );
  t.mock.timers.tick(1999);
  assert.equal(results.length, 0);
  t.mock.timers.tick(1);
  await running;
  assert.equal(results[0]?.status, 504);
  assert.equal(cancelled, true);
  assert.equal(results[0]?.headers['content-type'], 'text/plain; charset=utf-8');
  assert.deepEqual(body(results[0]), {
    metadata: {},
    status: 'Failure',
    message: 'Timeout: request did not complete within the allotted timeout',
    reason: 'Timeout',
    details: {},
    code: 504,
  });
});

test('a client that goes away ends its request, whose work is counted once it is done', async () => {
  const registry = new MetricRegistry();
  const client = new Abortable();
  let finish = (_: HttpResponse): void => undefined;
  const working = chain({ metrics: createRequestMetrics(registry) }, (exchange) => {
    exchange.servedBy = 'resource';
    return new Promise((resolve) => (finish = resolve));
  })(
    testRequest('POST', '/api/v1/namespaces/a/configmaps', {
      signal: client.signal,
      whenStopped: (run) => client.whenStopped(run),
    }),
  );
  await new Promise((resolve) => setImmediate(resolve));
  client.stop(new Error('gone'));
  assert.equal((await working).status, 504);
  assert.match(registry.text(), /^apiserver_request_terminations_total\{code="504",.*verb="POST".*\} 1$/m);
  assert.doesNotMatch(registry.text(), /^apiserver_request_total\{/m);
  finish({ ...answer(), status: 418 });
  await new Promise((resolve) => setImmediate(resolve));
  assert.match(registry.text(), /^apiserver_request_total\{code="418",/m);
  assert.match(registry.text(), /^apiserver_request_post_timeout_total\{source="timeout-handler",status="ok"\} 1$/m);
});

test('an answer that its client leaves is counted as cut off', async () => {
  const registry = new MetricRegistry();
  const client = new Abortable();
  const response = await chain({ metrics: createRequestMetrics(registry) }, (exchange) => {
    exchange.servedBy = 'resource';
    return { ...answer(), body: { stream: async () => client.stop(new Error('gone')) } };
  })(testRequest('GET', '/api/v1/pods', { signal: client.signal }));
  if (isStream(response.body)) await response.body.stream({ signal: client.signal } as ResponseSink);
  assert.match(registry.text(), /^apiserver_request_aborts_total\{.*resource="pods",.*\} 1$/m);
});

test('a client that goes away waits for nobody to say who it is', async () => {
  const registry = new MetricRegistry();
  const gone = new AbortController();
  const metrics = createRequestMetrics(registry);
  const authenticator = { authenticate: () => new Promise<undefined>(() => undefined) };
  const answered = chain({ metrics, authenticator }, () => answer())(
    testRequest('GET', '/version', { signal: gone.signal }),
  );
  gone.abort();
  assert.equal((await answered).status, 401);
  assert.match(registry.text(), /^authentication_attempts\{result="error"\} 1$/m);
});

test('a request that ends waits for nobody to decide on it', async () => {
  const filter = authorization({
    authorizer: { ...authorizeBy(() => true), authorize: () => new Promise(() => undefined) },
    withSelectors: false,
    renderStatus: statusAsJson,
    observe: () => undefined,
    log: silentLog,
  });
  const ended = new AbortController();
  const exchange = testExchange('GET', '/version', { signal: ended.signal });
  const answered = Promise.resolve(filter(exchange, () => answer()));
  ended.abort(new Error('time is over'));
  assert.equal((await answered).status, 500);
});

test('a large answer is under way until it is read, and cut at its timeout', async () => {
  const large = [Buffer.alloc(30_000, 'a'), Buffer.alloc(30_000, 'b')];
  const run = chain({ maxRequestsInFlight: 1, requestTimeoutMs: 200 }, ({ info }) => ({
    status: 200,
    headers: {},
    body: info.name === 'large' ? large : 'small',
  }));
  const canceled: unknown[] = [];
  const request = (name: string): Promise<HttpResponse> =>
    run(testRequest('GET', `/api/v1/namespaces/n/pods/${name}`, { cancel: (error) => canceled.push(error) }));
  const first = await request('large');
  assert.equal(first.headers['content-length'], '60000');
  assert.equal((await request('small')).status, 429);
  let drain = (): void => undefined;
  const written: Buffer[] = [];
  const sink = {
    write: (piece: Buffer) => {
      written.push(piece);
      return false;
    },
    drained: () => new Promise<void>((resolve) => (drain = resolve)),
  } as unknown as ResponseSink;
  const sent = isStream(first.body) ? first.body.stream(sink) : undefined;
  assert.equal((await request('small')).status, 429);
  drain();
  await sent;
  assert.deepEqual(written, large);
  assert.equal((await request('small')).status, 200);
  // Nobody reads this one.
  const second = await request('large');
  void (isStream(second.body) && second.body.stream(sink));
  await pollUntil(() => canceled.length > 0);
});

test('a time too short for anything is over at once', async () => {
  let called = false;
  const handler: Handler = () => {
    called = true;
    return answer();
  };
  const response = await chain({}, handler)(testRequest('GET', '/api/v1/pods?timeout=1ns'));
  assert.deepEqual([response.status, body(response).reason, called], [504, 'Timeout', false]);
});

test('a timeout that is not a duration is a bad request', async () => {
  const response = await chain({}, () => answer())(testRequest('GET', '/api/v1/pods?timeout=x'));
  assert.equal(body(response).message, 'invalid timeout specified in the request URL - time: invalid duration "x"');
});

test('while draining new requests get 429 and health is still answered', async () => {
  const draining: TestDraining = {
    notAcceptingNewRequests: true,
    requests: new InFlight(),
    watches: new OpenWatches(),
  };
  const run = chain({ draining }, () => answer());
  const refused = await run(testRequest('GET', '/api/v1/pods'));
  assert.equal(refused.status, 429);
  assert.equal(refused.headers['retry-after'], '5');
  assert.equal(refused.headers.connection, 'close');
  assert.equal(refused.body, 'The apiserver is shutting down, please try again later.\n');
  assert.equal((await run(testRequest('GET', '/healthz'))).status, 200);
});

test('shutdown waits for answers in pieces, and ends watches in good order', async () => {
  const draining: TestDraining = {
    notAcceptingNewRequests: false,
    requests: new InFlight(),
    watches: new OpenWatches(),
  };
  const untilAborted = {
    stream: (sink: ResponseSink) =>
      new Promise<void>((_, reject) => sink.signal.addEventListener('abort', () => reject(new Error('aborted')))),
  };
  const run = chain({ draining }, () => ({ status: 200, headers: {}, body: untilAborted }));
  const response = await run(testRequest('GET', '/api/v1/pods?watch=1'));
  const sink: ResponseSink = {
    write: () => true,
    drained: () => Promise.resolve(),
    pendingBytes: 0,
    signal: new AbortController().signal,
  };
  const done = (response.body as typeof untilAborted).stream(sink);
  assert.equal(draining.watches.size, 1);
  await draining.watches.end(1000);
  await done;
  assert.equal(draining.watches.size, 0);
  assert.equal((await run(testRequest('GET', '/api/v1/pods?watch=1'))).status, 503);
});

test('CORS answers a preflight of an allowed origin and leaves others alone', async () => {
  const filter = cors(['//example\\.test$']);
  assert.ok(filter);
  const preflight = testExchange('OPTIONS', '/api', { headers: { origin: 'https://example.test' } });
  assert.equal((await filter(preflight, () => answer())).status, 204);
  assert.equal(preflight.responseHeaders['access-control-allow-origin'], 'https://example.test');
  const other = testExchange('OPTIONS', '/api', { headers: { origin: 'https://example.test.evil' } });
  assert.equal((await filter(other, () => answer())).status, 200);
  assert.deepEqual(other.responseHeaders, {});
});

test('GOAWAY is for HTTP/2 alone, by chance', async () => {
  const random = mock.fn(() => 0.0005);
  const filter = goaway(0.001, random);
  assert.ok(filter);
  const two = testExchange('GET', '/', { httpVersion: '2.0' });
  await filter(two, () => answer());
  assert.equal(two.responseHeaders.connection, 'close');
  const one = testExchange('GET', '/');
  await filter(one, () => answer());
  assert.equal(one.responseHeaders.connection, undefined);
  assert.equal(goaway(0), undefined);
});

test('warnings are quoted, and cut when they are too long together', () => {
  const warn = (...texts: string[]) => warningHeaders(texts.map((text) => ({ agent: '', text })));
  assert.deepEqual(warn('say "a\\b"', 'x\ny', ''), ['299 - "say \\"a\\\\b\\""']);
  const distinct = warn(...Array.from({ length: 30 }, (_, i) => String(i).padEnd(300, 'x')));
  assert.equal(distinct.length, 16);
  assert.equal(distinct[0]?.length, '299 - ""'.length + 256);
  assert.deepEqual(warn('\u{1f600}'.repeat(4096)).length, 1);
  assert.deepEqual(warn('\u{1f600}'.repeat(4097), 'b'), [
    `299 - "${Buffer.from('\u{1f600}'.repeat(256)).toString('latin1')}"`,
    '299 - "b"',
  ]);
});

test('of many thousands of warnings no more are read than are shown', () => {
  let read = 0;
  const warnings = Array.from({ length: 100_000 }, (_, i) => ({
    agent: '',
    get text() {
      read++;
      return `warning ${i}`.padEnd(300, 'x');
    },
  }));
  assert.equal(warningHeaders(warnings).length, 16);
  assert.ok(read < 200, `${read}`);
});

test('what a request spent in webhooks and queues is not counted as the server’s own time, and a watch has none', async () => {
  const registry = new MetricRegistry();
  const run = chain({ metrics: createRequestMetrics(registry) }, (exchange) => {
    exchange.servedBy = 'resource';
    exchange.spent('mutating-webhook', 300);
    exchange.spent('apf-queue-wait', 100);
    exchange.spent('etcd', 50);
    return answer();
  });
  await run(testRequest('GET', '/api/v1/namespaces/default/pods/a'));
  await run(testRequest('GET', '/api/v1/pods?watch=true'));
  const sumOf = (name: string, verb: string): number | undefined => {
    const line = registry
      .text()
      .split('\n')
      .find((one) => one.startsWith(`${name}_sum{`) && one.includes(`verb="${verb}"`));
    return line === undefined ? undefined : Number(line.split(' ').at(-1));
  };
  const all = sumOf('apiserver_request_duration_seconds', 'GET') ?? 0;
  const own = sumOf('apiserver_request_sli_duration_seconds', 'GET') ?? 0;
  assert.ok(Math.abs(all - own - 0.4) < 1e-6, `${all} ${own}`);
  assert.ok(sumOf('apiserver_request_duration_seconds', 'WATCH') !== undefined);
  assert.equal(sumOf('apiserver_request_sli_duration_seconds', 'WATCH'), undefined);
});
