import { silentLog } from '../lib/testing/test-log.js';
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import type { APIService } from '../schema/generated/apiregistration.v1.js';
import type { ApiServices } from './api-services.js';
import { keepOpenApi } from './keep-openapi.js';
import { RemoteOpenApi } from './remote-openapi.js';
import type { RemoteServers } from './remote-servers.js';

interface Answer {
  readonly status?: number;
  readonly etag?: string;
  readonly body?: unknown;
}

/** An extension server per API service, which answers what the test says now. */
class World {
  readonly answers = new Map<string, Readonly<Record<string, Answer>>>();
  readonly requests: string[] = [];
  readonly registered = new Map<string, APIService>();
  readonly #receivers: ((name: string) => void)[] = [];
  readonly services = {
    remote: (name: string) => this.registered.get(name),
    subscribe: (receive: (name: string) => void) => void this.#receivers.push(receive),
  } as unknown as ApiServices;
  readonly servers = {
    reach: async ({ metadata }: APIService) => ({
      client: { request: async (request: OutboundRequest) => this.#answer(metadata.name ?? '', request) },
      origin: new URL('https://ext'),
    }),
  } as unknown as RemoteServers;
  readonly documents = new RemoteOpenApi(this.services, this.servers, () => new Date());

  register(name: string, answers: Readonly<Record<string, Answer>>, priority = 1): APIService {
    const [version = '', ...group] = name.split('.');
    const service = {
      metadata: { name },
      spec: { group: group.join('.'), version, groupPriorityMinimum: priority, service: { name: 'ext' } },
      status: { conditions: [{ type: 'Available', status: 'True' }] },
    } as unknown as APIService;
    this.registered.set(name, service);
    this.answers.set(name, answers);
    for (const receive of this.#receivers) receive(name);
    return service;
  }

  unregister(name: string): void {
    this.registered.delete(name);
    for (const receive of this.#receivers) receive(name);
  }

  #answer(name: string, { url, headers }: OutboundRequest): object {
    const tag = headers['if-none-match'];
    this.requests.push(
      `${name} ${url.pathname} as ${headers['x-remote-user']}${tag === undefined ? '' : ` unless ${tag}`}`,
    );
    const { status = 200, body = '', etag } = this.answers.get(name)?.[url.pathname] ?? { status: 404 };
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const code = tag !== undefined && tag === etag ? 304 : status;
    return {
      status: code,
      headers: { etag },
      rawHeaders: [],
      body: Readable.from([Buffer.from(code === 304 ? '' : text)]),
    };
  }
}

interface OutboundRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string | undefined>>;
}

const swagger = (group: string, ...names: string[]) => ({
  swagger: '2.0',
  paths: Object.fromEntries(names.map((name) => [`/apis/${group}/v1/${name}`, { get: { operationId: name } }])),
});
const index = (...names: string[]) => ({
  paths: Object.fromEntries(names.map((name) => [name, { serverRelativeURL: `/openapi/v3/${name}?hash=1` }])),
});
const own = (name: string): boolean => name === 'api/v1' || name === 'apis/a.test/v1';
const pathsOf = ({ documents }: World): string[] => documents.swaggers().flatMap(({ paths }) => [...paths.keys()]);

test('a document is requested with its tag, and is the same while nothing changed', async () => {
  const world = new World();
  const service = world.register('v1.a.test', {
    '/openapi/v2': { etag: '"1"', body: swagger('a.test', 'crates') },
    '/openapi/v3': { body: index('apis/a.test/v1') },
  });
  await world.documents.refresh(service);
  const before = world.documents.swaggers();
  await world.documents.refresh(service);
  assert.equal(world.documents.swaggers(), before);
  assert.deepEqual(world.requests, [
    'v1.a.test /openapi/v2 as system:aggregator',
    'v1.a.test /openapi/v3 as system:aggregator',
    'v1.a.test /openapi/v2 as system:aggregator unless "1"',
    'v1.a.test /openapi/v3 as system:aggregator',
  ]);
  world.answers.set('v1.a.test', { '/openapi/v2': { body: swagger('a.test', 'lids') } });
  await world.documents.refresh(service);
  assert.deepEqual(pathsOf(world), ['/apis/a.test/v1/lids']);
  const untagged = world.documents.swaggers();
  await world.documents.refresh(service);
  assert.equal(world.documents.swaggers(), untagged);
});

test('garbage, a refusal and silence leave what was said before, and other servers’ documents', async () => {
  const world = new World();
  const good = world.register('v1.b.test', {
    '/openapi/v2': { body: swagger('b.test', 'b') },
    '/openapi/v3': { body: index('apis/b.test/v1') },
  });
  const bad = world.register('v1.a.test', {
    '/openapi/v2': { body: swagger('a.test', 'a') },
    '/openapi/v3': { body: index('apis/a.test/v1') },
  });
  await world.documents.refresh(good);
  await world.documents.refresh(bad);
  for (const answer of [{ body: 'what?' }, { body: [] }, { status: 500 }, { body: { paths: [1] } }]) {
    world.answers.set('v1.a.test', { '/openapi/v2': answer, '/openapi/v3': { status: 503 } });
    await assert.rejects(world.documents.refresh(bad));
    assert.deepEqual(pathsOf(world), ['/apis/a.test/v1/a', '/apis/b.test/v1/b']);
    assert.deepEqual([...world.documents.index(() => false).keys()], ['apis/b.test/v1', 'apis/a.test/v1']);
  }
});

test('groups with a higher priority come first', async () => {
  const world = new World();
  for (const [name, priority] of [
    ['a.test', 1],
    ['b.test', 20],
    ['c.test', 20],
  ] as const)
    await world.documents.refresh(
      world.register(
        `v1.${name}`,
        { '/openapi/v2': { body: swagger(name, 'x') }, '/openapi/v3': { body: index() } },
        priority,
      ),
    );
  assert.deepEqual(pathsOf(world), ['/apis/b.test/v1/x', '/apis/c.test/v1/x', '/apis/a.test/v1/x']);
});

test('a registered version is its server’s; else this server’s own documents come before what others list', async () => {
  const world = new World();
  const listed = index('apis/a.test/v1', 'api/v1', 'apis/other.test/v1');
  const answers = { '/openapi/v2': { body: swagger('a.test', 'a') }, '/openapi/v3': { body: listed } };
  await world.documents.refresh(world.register('v1.a.test', answers));
  assert.deepEqual([...world.documents.index(own).keys()], ['apis/a.test/v1', 'apis/other.test/v1']);
  assert.equal(world.documents.serverOf('apis/a.test/v1', own)?.metadata.name, 'v1.a.test');
  assert.equal(world.documents.serverOf('apis/other.test/v1', own)?.metadata.name, 'v1.a.test');
  assert.equal(world.documents.serverOf('api/v1', own), undefined);
  assert.equal(world.documents.serverOf('apis/nobody.test/v1', own), undefined);
});

test('a server without documents of form 3 has its other one converted, and is not requested again', async () => {
  const world = new World();
  const service = world.register('v1.a.test', { '/openapi/v2': { body: swagger('a.test', 'a') } });
  await world.documents.refresh(service);
  await world.documents.refresh(service);
  assert.equal(world.requests.filter((line) => line.includes('/openapi/v3')).length, 1);
  const document = JSON.parse(String(world.documents.converted().get('apis/a.test/v1')?.json)) as { openapi: string };
  assert.equal(document.openapi, '3.0.0');
  world.documents.forget('v1.a.test');
  assert.equal(world.documents.converted().size, 0);
});

test('servers are fetched a second after they came, then every minute, less often while they fail, and not when gone', async () => {
  const world = new World();
  const timers: { readonly ms: number; readonly run: () => void }[] = [];
  const clock = {
    now: () => 0,
    after: (ms: number, run: () => void) => {
      const timer = { ms, run };
      timers.push(timer);
      return () => void timers.splice(timers.indexOf(timer), 1);
    },
  };
  const stop = new AbortController();
  keepOpenApi({
    services: world.services,
    documents: world.documents,
    clock,
    signal: stop.signal,
    log: silentLog,
  });
  const fire = async (): Promise<number> => {
    const timer = timers.shift();
    assert.ok(timer);
    timer.run();
    while (timers.length === 0) await new Promise(setImmediate);
    return timer.ms;
  };
  const good = { '/openapi/v2': { body: swagger('a.test', 'a') }, '/openapi/v3': { body: index() } };
  world.register('v1.a.test', good);
  assert.equal(await fire(), 1000);
  assert.deepEqual(pathsOf(world), ['/apis/a.test/v1/a']);
  world.answers.set('v1.a.test', {});
  assert.deepEqual([await fire(), await fire(), await fire(), await fire()], [60_000, 60_000, 120_000, 240_000]);
  assert.deepEqual(pathsOf(world), ['/apis/a.test/v1/a']);
  world.unregister('v1.a.test');
  assert.deepEqual([timers.length, pathsOf(world)], [0, []]);
});
