import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { setImmediate as yieldOnce } from 'node:timers/promises';
import { deployments } from '../apis/apps/deployment/definition.js';
import { configMaps } from '../apis/core/configmap/definition.js';
import { namespaces } from '../apis/core/namespace/definition.js';
import { type KeyValueStore, KvError, type KvErrorCode } from '../kv/kv.js';
import { openMemoryStore } from '../kv/memory.js';
import { type WorkerPool, RunInline } from '../lib/async/worker-pool.js';
import { addSizeHint } from '../machinery/size-hint.js';
import { type GroupResource, StatusError } from '../machinery/status.js';
import { TestApi } from '../server/testing/test-api.js';
import { StorageError, type StorageErrorCode } from '../storage/store.js';
import { create } from './create.js';
import type { KindDefinition, Strategy, DeleteStrategy, Transaction } from './kind.js';
import { fromStorage, watchFailure } from './storage-status.js';
import { generateName } from './system-fields.js';

const MAPS = '/api/v1/namespaces/n/configmaps';
const MERGE = 'application/merge-patch+json';
const RESOURCE: GroupResource = { group: '', resource: 'configmaps' };

/** Config maps with more rules. */
const kindWith = (strategy: Partial<Strategy>): KindDefinition =>
  ({ ...configMaps, strategy: { ...configMaps.strategy, ...strategy } }) as unknown as KindDefinition;

class Ledger {
  readonly open = new Set<number>();
  begun = 0;
  committed = 0;
  reverted = 0;
  readonly begin = async (): Promise<Transaction> => {
    const id = this.begun++;
    this.open.add(id);
    const close = (): void => assert.ok(this.open.delete(id), 'a transaction ends once');
    return {
      commit: async () => {
        close();
        this.committed++;
      },
      revert: async () => {
        close();
        this.reverted++;
      },
    };
  };
}

test('what is no name is refused before it is looked for', async () => {
  const api = new TestApi({ kinds: [configMaps as unknown as KindDefinition] });
  const named = `${MAPS}/a%25b`;
  const answers = [
    await api.get(named),
    await api.put(named, { metadata: { name: 'a%b' } }),
    await api.patch(named, MERGE, { data: {} }),
    await api.delete(named),
  ];
  for (const { status, body } of answers) {
    assert.deepEqual([status, body.message], [400, 'Name parameter invalid: "a%b": may not contain \'%\'']);
  }
  assert.equal((await api.get(`${MAPS}/%2e%2e`)).body.message, 'Name parameter invalid: "..": may not be \'..\'');
});

test('what a creation began is committed when it is stored, and reverted when it is not', async () => {
  const ledger = new Ledger();
  let refuse = false;
  const api = new TestApi({
    kinds: [
      kindWith({
        transaction: { beginCreate: ledger.begin },
      }),
    ],
    admission: {
      validate: async () => {
        if (refuse) throw new StatusError(403, 'Forbidden', 'no');
      },
    },
  });
  assert.equal((await api.post(MAPS, { metadata: { name: 'a' } })).status, 201);
  assert.deepEqual([ledger.committed, ledger.reverted], [1, 0]);
  assert.equal((await api.post(MAPS, { metadata: { name: 'a' } })).status, 409);
  assert.equal((await api.post(MAPS, { metadata: { name: 'B' } })).status, 422);
  refuse = true;
  assert.equal((await api.post(MAPS, { metadata: { name: 'c' } })).status, 403);
  assert.deepEqual([ledger.committed, ledger.reverted, ledger.open.size], [1, 3, 0]);
});

test('each lost race of an update reverts what its attempt began', async () => {
  const ledger = new Ledger();
  const api = new TestApi({
    kinds: [
      kindWith({
        transaction: { beginUpdate: ledger.begin },
      }),
    ],
  });
  await api.post(MAPS, { metadata: { name: 'a' } });
  const writes = Array.from({ length: 12 }, (_, i) => api.patch(`${MAPS}/a`, MERGE, { data: { [`k${i}`]: 'v' } }));
  for (const { status } of await Promise.all(writes)) assert.equal(status, 200);
  assert.equal(ledger.committed, 12);
  assert.equal(ledger.begun, ledger.committed + ledger.reverted);
  assert.equal(ledger.open.size, 0);
  const stale = await api.put(`${MAPS}/a`, { metadata: { name: 'a', resourceVersion: '1' } });
  assert.equal(stale.status, 409);
  assert.equal(ledger.begun, ledger.committed + ledger.reverted);
});

test('a kind hears once of each object that is gone, however it went', async () => {
  const gone: (string | undefined)[] = [];
  const after: DeleteStrategy['after'] = async ({ metadata }) => void gone.push(metadata.name);
  const api = new TestApi({ kinds: [kindWith({ delete: { after } })] });
  await api.post(MAPS, { metadata: { name: 'plain' } });
  await api.post(MAPS, { metadata: { name: 'held', finalizers: ['x.io/y'] } });
  await api.delete(`${MAPS}/plain?dryRun=All`);
  await api.delete(`${MAPS}/held`);
  assert.deepEqual(gone, []);
  await api.delete(`${MAPS}/plain`);
  await api.patch(`${MAPS}/held?dryRun=All`, MERGE, { metadata: { finalizers: [] } });
  assert.deepEqual(gone, ['plain']);
  await api.patch(`${MAPS}/held`, MERGE, { metadata: { finalizers: [] } });
  assert.deepEqual(gone, ['plain', 'held']);
});

test('a namespace ends in phases: it stays until its finalizers are done', async () => {
  const api = new TestApi({ kinds: [namespaces as unknown as KindDefinition] });
  const path = '/api/v1/namespaces/n';
  const made = (await api.post('/api/v1/namespaces', { metadata: { name: 'n' } })).body;
  assert.deepEqual([made.spec, made.status], [{ finalizers: ['kubernetes'] }, { phase: 'Active' }]);
  const marked = (await api.delete(path)).body;
  assert.deepEqual([marked.kind, marked.status], ['Namespace', { phase: 'Terminating' }]);
  const { resourceVersion } = marked.metadata;
  assert.equal((await api.delete(path)).body.metadata.resourceVersion, resourceVersion);
  const finalized = await api.put(`${path}/finalize`, { ...marked, spec: { finalizers: [] } });
  assert.equal(finalized.status, 200);
  assert.equal((await api.get(path)).status, 404);
});

test('every error of the store has an answer', () => {
  const expected: Readonly<Record<StorageErrorCode, [number, string]>> = {
    'key-exists': [409, 'AlreadyExists'],
    'not-found': [404, 'NotFound'],
    conflict: [409, 'Conflict'],
    'too-old': [410, 'Expired'],
    'too-new': [504, 'Timeout'],
    'invalid-continue': [400, 'BadRequest'],
    'expired-continue': [410, 'Expired'],
    unavailable: [503, 'ServiceUnavailable'],
    corrupt: [500, 'InternalError'],
    'unreadable-list': [500, 'StorageReadError'],
    'encryption-failed': [500, 'InternalError'],
    initializing: [429, 'TooManyRequests'],
    'no-space': [500, ''],
    conversion: [500, ''],
    'too-large': [413, 'RequestEntityTooLarge'],
  };
  for (const [code, answer] of Object.entries(expected)) {
    const status = fromStorage(new StorageError(code as StorageErrorCode, 'x'), RESOURCE, 'a');
    assert.ok(status instanceof StatusError);
    assert.deepEqual([status.code, status.reason], answer, code);
  }
  const own = new Error('a bug');
  assert.equal(fromStorage(own, RESOURCE, 'a'), own);
  const inStream = (code: StorageErrorCode): number => watchFailure(new StorageError(code, 'x')).code;
  assert.deepEqual([inStream('too-old'), inStream('too-new'), inStream('corrupt')], [410, 504, 500]);
});

/** A store whose named call fails from now on. */
function failing(kv: KeyValueStore, call: keyof KeyValueStore, code: KvErrorCode): KeyValueStore {
  return new Proxy(kv, {
    get(target, name) {
      if (name === call) return () => Promise.reject(new KvError(code, 'out of order'));
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

test('the error of a store that fails reaches the client, and nothing is half done', async () => {
  const kv = openMemoryStore();
  const sound = new TestApi({ kinds: [kindWith({})], kv, cache: false });
  await sound.post(MAPS, { metadata: { name: 'a' } });
  for (const [call, send] of [
    ['create', (api: TestApi) => api.post(MAPS, { metadata: { name: 'b' } })],
    ['update', (api: TestApi) => api.patch(`${MAPS}/a`, MERGE, { data: { k: 'v' } })],
    ['delete', (api: TestApi) => api.delete(`${MAPS}/a`)],
    ['get', (api: TestApi) => api.get(`${MAPS}/a`)],
    ['get', (api: TestApi) => api.delete(`${MAPS}/a`)],
    ['get', (api: TestApi) => api.patch(`${MAPS}/a`, MERGE, { data: { k: 'v' } })],
    ['get', (api: TestApi) => api.post(`${MAPS}?dryRun=All`, { metadata: { name: 'b' } })],
    ['range', (api: TestApi) => api.get(MAPS)],
    ['range', (api: TestApi) => api.delete(MAPS)],
  ] as const) {
    const ledger = new Ledger();
    const kind = kindWith({
      transaction: { beginCreate: ledger.begin, beginUpdate: ledger.begin },
    });
    const api = new TestApi({ kinds: [kind], kv: failing(kv, call, 'unavailable'), cache: false });
    const { status, body } = await send(api);
    assert.deepEqual([status, body.reason], [503, 'ServiceUnavailable'], call);
    assert.equal(ledger.begun, ledger.reverted);
  }
  assert.equal((await sound.get(MAPS)).body.items.length, 1);
  assert.equal((await sound.get(`${MAPS}/a`)).body.data, undefined);
});

test('what another removes first is removed all the same, once it was marked', async () => {
  const kv = openMemoryStore();
  let race = false;
  const racing = new Proxy(kv, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (name === 'delete') {
        return async (...[key, revision]: Parameters<KeyValueStore['delete']>) => {
          if (race) await target.delete(key, revision);
          return target.delete(key, revision);
        };
      }
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
  const graceful = { delete: { gracePeriodSeconds: (_: unknown, requested: number | undefined) => requested ?? 30 } };
  for (const cache of [true, false]) {
    const api = new TestApi({ kinds: [kindWith(graceful)], kv: racing, cache });
    await api.post(MAPS, { metadata: { name: 'a' } });
    await api.post(MAPS, { metadata: { name: 'b', finalizers: ['x.io/y'] } });
    await api.delete(`${MAPS}/b?gracePeriodSeconds=0`);
    race = true;
    assert.equal((await api.delete(`${MAPS}/a?gracePeriodSeconds=0`)).status, 200);
    assert.equal((await api.patch(`${MAPS}/b`, MERGE, { metadata: { finalizers: null } })).status, 200);
    race = false;
    assert.equal((await api.get(MAPS)).body.items.length, 0);
  }
});

test('a generated name that is in use, or about to be, is drawn again', async () => {
  for (const cache of [true, false]) {
    const api = new TestApi({ kinds: [configMaps as unknown as KindDefinition], cache });
    await api.post(MAPS, { metadata: { name: 'a-1' } });
    const registry = api.resources.registry(RESOURCE);
    assert.ok(registry !== undefined);
    const suffixes = ['1', '2', '2', '3'];
    const drawing = { ...registry, nameSuffix: () => suffixes.shift() ?? assert.fail('drawn too often') };
    const createOne = async (): Promise<string | undefined> => {
      const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'a-', namespace: 'n' } };
      const context = { ...api.context(), namespace: 'n' };
      const stored = await create(drawing, { object, context, admit: () => undefined });
      return stored.object().metadata.name;
    };
    assert.deepEqual((await Promise.all([createOne(), createOne()])).sort(), ['a-2', 'a-3']);
    assert.equal(registry.drawnKeys.size, 0);
  }
});

test('without the gate RetryGenerateName a generated name that is in use is refused', async () => {
  const emulated = { version: { major: 1, minor: 31 }, forwardCompatible: false, namedForwardCompatible: false };
  const kinds = [configMaps as unknown as KindDefinition];
  const api = new TestApi({ kinds, emulated, gates: { RetryGenerateName: false } });
  await api.post(MAPS, { metadata: { name: 'a-1' } });
  const registry = api.resources.registry(RESOURCE);
  assert.ok(registry !== undefined);
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'a-', namespace: 'n' } };
  const context = { ...api.context(), namespace: 'n' };
  const request = { object, context, admit: () => undefined };
  await assert.rejects(create({ ...registry, nameSuffix: () => '1' }, request), /already exists/);
});

test('a generated name leaves room for its suffix', () => {
  assert.equal(generateName('a-', 'bcdfg'), 'a-bcdfg');
  assert.equal(generateName('x'.repeat(80), 'bcdfg').length, 63);
});

test('of many who update one object at once, none works in vain', async () => {
  let attempts = 0;
  const admission = { validate: async () => void attempts++ };
  const api = new TestApi({ kinds: [configMaps as unknown as KindDefinition], admission });
  await api.post(MAPS, { metadata: { name: 'a' } });
  attempts = 0;
  const patches = Array.from({ length: 30 }, (_, i) => api.patch(`${MAPS}/a`, MERGE, { data: { [`k${i}`]: 'v' } }));
  for (const { status } of await Promise.all(patches)) assert.equal(status, 200);
  assert.equal(attempts, 30);
  assert.equal(Object.keys((await api.get(`${MAPS}/a`)).body.data ?? {}).length, 30);
});

test('of many concurrent updates of a large object none works in vain, however long each runs', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let attempts = 0;
  const api = new TestApi({
    kinds: [configMaps as unknown as KindDefinition],
    admission: {
      validate: async () => {
        attempts++;
        // Longer than others would wait for something small.
        t.mock.timers.tick(30);
      },
    },
  });
  await api.post(MAPS, { metadata: { name: 'a' }, data: { large: 'x'.repeat(100_000) } });
  attempts = 0;
  const writes = Array.from({ length: 10 }, (_, i) => api.patch(`${MAPS}/a`, MERGE, { data: { [`k${i}`]: 'v' } }));
  for (const { status } of await Promise.all(writes)) assert.equal(status, 200);
  assert.equal(attempts, 10);
});

test('an update that lost a race queues before it tries again', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let attempts = 0;
  let release = (): void => undefined;
  const together = new Promise<void>((resolve) => (release = resolve));
  const api = new TestApi({
    kinds: [configMaps as unknown as KindDefinition],
    admission: {
      validate: async ({ operation }) => {
        if (operation === 'CREATE') return;
        if (++attempts === 10) release();
        await together;
        await yieldOnce();
      },
    },
  });
  await api.post(MAPS, { metadata: { name: 'a' } });
  const writes = Array.from({ length: 10 }, (_, i) => api.patch(`${MAPS}/a`, MERGE, { data: { [`k${i}`]: 'v' } }));
  // Longer than others wait for one update: the next goes on beside it.
  for (; attempts < 10; t.mock.timers.tick(20)) await yieldOnce();
  for (const { status } of await Promise.all(writes)) assert.equal(status, 200);
  assert.ok(attempts < 25, `${attempts} attempts`);
});

test('an object that plugins have made large is validated on a worker, however little was sent', async () => {
  const jobs: string[] = [];
  const workers: WorkerPool = {
    minBytes: 100_000,
    async run({ name }) {
      jobs.push(name);
      throw new RunInline('no worker');
    },
  };
  let grows = false;
  const api = new TestApi({
    kinds: [configMaps as unknown as KindDefinition],
    workers,
    admission: { admit: ({ object }) => (grows && object !== undefined ? addSizeHint(object, 100_000) : undefined) },
  });
  await api.post(MAPS, { metadata: { name: 'a' } });
  await api.patch(`${MAPS}/a`, MERGE, { data: { a: 'b' } });
  assert.deepEqual(jobs, []);
  grows = true;
  await api.post(MAPS, { metadata: { name: 'b' } });
  await api.patch(`${MAPS}/b`, MERGE, { data: { a: 'b' } });
  await api.patch(`${MAPS}/c?fieldManager=m`, 'application/apply-patch+yaml', {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'c' },
  });
  assert.deepEqual(jobs, ['prepare', 'prepare', 'prepare']);
});

test('a large object is read cooperatively where a new one wants its name, where all are deleted and where it is scaled', async () => {
  const api = new TestApi({ kinds: [configMaps, deployments] as unknown as readonly KindDefinition[] });
  const annotations = Object.fromEntries(Array.from({ length: 6_000 }, (_, i) => [`k${i}`, 'x'.repeat(20)]));
  const DEPLOYMENTS = '/apis/apps/v1/namespaces/n/deployments';
  const spec = {
    selector: { matchLabels: { a: 'b' } },
    template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  };
  await api.post(MAPS, { metadata: { name: 'a', annotations } });
  await api.post(DEPLOYMENTS, { metadata: { name: 'a', annotations }, spec });
  await new Promise((resolve) => setImmediate(resolve));
  const atOnce = mock.method(JSON, 'parse');
  const answers = [
    await api.post(MAPS, { metadata: { name: 'a' } }),
    await api.get(`${DEPLOYMENTS}/a/scale`),
    await api.delete(MAPS),
  ];
  const longest = Math.max(...atOnce.mock.calls.map(({ arguments: [text] }) => text.length));
  atOnce.mock.restore();
  assert.deepEqual(
    answers.map(({ status }) => status),
    [409, 200, 200],
  );
  assert.ok(longest < 100_000, `${longest}`);
});
