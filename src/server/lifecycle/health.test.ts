import { silentLog } from '../../lib/testing/test-log.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testRequest } from '../../filters/testing.js';
import { type FailedChecks, Health, type HealthEndpoint } from './health.js';
import { PostStartHooks } from './post-start-hooks.js';

const get = async (health: Health, target: string): Promise<[number | undefined, unknown]> => {
  const response = await health.handle(testRequest('GET', target), target.split('?')[0] ?? '');
  return [response?.status, response?.body];
};

test('failures are listed by name, without their reasons, unless the check itself is requested', async () => {
  const health = new Health({ livezGracePeriodMs: 0, log: silentLog });
  health.add({ name: 'etcd', check: () => 'no connection' });
  assert.deepEqual(await get(health, '/livez'), [
    500,
    '[+]ping ok\n[+]log ok\n[-]etcd failed: reason withheld\nlivez check failed\n',
  ]);
  assert.deepEqual(await get(health, '/livez?exclude=etcd'), [200, 'ok']);
  assert.deepEqual(await get(health, '/readyz?verbose&exclude=etcd'), [
    200,
    '[+]ping ok\n[+]log ok\n[+]etcd excluded: ok\nreadyz check passed\n',
  ]);
  assert.deepEqual(await get(health, '/livez/etcd'), [500, 'internal server error: no connection\n']);
  assert.deepEqual(await get(health, '/livez/nope'), [undefined, undefined]);
  assert.deepEqual(await get(health, '/livezz'), [undefined, undefined]);
});

test('checks are listed in the order people know, whichever was added first', async () => {
  const health = new Health({ livezGracePeriodMs: 0, log: silentLog });
  const hooks = new PostStartHooks(health);
  const names = ['start-controllers', 'bootstrap-controller', 'apiservice-openapi-controller', 'crd-informer-synced'];
  for (const name of [...names, 'start-kube-aggregator-informers']) hooks.add({ name, run: () => undefined });
  for (const name of ['shutdown', 'autoregister-completion', 'informer-sync']) {
    health.addReadyz({ name, check: () => undefined });
  }
  health.add({ name: 'etcd', check: () => undefined });
  await hooks.run(new AbortController().signal, silentLog);
  const [, body] = await get(health, '/readyz?verbose');
  assert.equal(
    String(body).replaceAll(/\[\+\](poststarthook\/)?| ok(?=\n)/g, ''),
    [
      'ping',
      'log',
      'etcd',
      'informer-sync',
      'crd-informer-synced',
      'bootstrap-controller',
      'start-controllers',
      'start-kube-aggregator-informers',
      'autoregister-completion',
      'apiservice-openapi-controller',
      'shutdown',
      'readyz check passed\n',
    ].join('\n'),
  );
});

test('/livez minds unfinished start-up only after the grace period', async () => {
  let now = 0;
  const health = new Health({ livezGracePeriodMs: 1000, now: () => now, log: silentLog });
  const hooks = new PostStartHooks(health);
  let finish = (): void => undefined;
  hooks.add({ name: 'slow', run: () => new Promise<void>((resolve) => (finish = resolve)) });
  const running = hooks.run(new AbortController().signal, silentLog);
  assert.equal((await get(health, '/livez'))[0], 200);
  assert.equal((await get(health, '/readyz'))[0], 500);
  now = 1001;
  assert.equal((await get(health, '/livez'))[0], 500);
  finish();
  await running;
  assert.equal((await get(health, '/livez'))[0], 200);
  assert.deepEqual(await get(health, '/healthz/poststarthook/slow'), [200, 'ok']);
});

test('a hook that fails is an error with its name', async () => {
  const hooks = new PostStartHooks(new Health({ livezGracePeriodMs: 0, log: silentLog }));
  hooks.add({ name: 'rbac/bootstrap-roles', run: () => Promise.reject(new Error('no store')) });
  await assert.rejects(hooks.run(new AbortController().signal, silentLog), {
    message: 'PostStartHook "rbac/bootstrap-roles" failed: no store',
  });
});

test('what fails in another process of the server fails here', async () => {
  const other = new Health({ livezGracePeriodMs: 0, log: silentLog });
  other.add({ name: 'etcd', check: () => 'no connection' });
  const others = async (endpoint: HealthEndpoint): Promise<readonly FailedChecks[]> => [await other.failures(endpoint)];
  const health = new Health({ livezGracePeriodMs: 0, log: silentLog, others });
  health.add({ name: 'etcd', check: () => undefined });
  assert.deepEqual(await get(health, '/readyz'), [
    500,
    '[+]ping ok\n[+]log ok\n[-]etcd failed: reason withheld\nreadyz check failed\n',
  ]);
});
