// JavaScript's objects inherit `constructor` and the like, and assigning to `__proto__` loses what is assigned. Keys that
// people choose may have these names: each way of writing must keep them, and say who owns them.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startTestServer, type TestServer } from '../support/server.js';

const NAMES = ['__proto__', 'constructor', 'toString', 'valueOf', 'hasOwnProperty', '__defineGetter__'];
/** Literals and assignments would not have `__proto__` as a member. */
const bag = (value: (name: string) => unknown): object => Object.fromEntries(NAMES.map((name) => [name, value(name)]));
const GROUP = 'odd.example.test';
const ODD = `/apis/${GROUP}/v1/namespaces/default/odds`;
const MAPS = '/api/v1/namespaces/default/configmaps';
const DEFINITION = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `odds.${GROUP}` },
  spec: {
    group: GROUP,
    scope: 'Namespaced',
    names: { plural: 'odds', singular: 'odd', kind: 'Odd' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
};
const configMap = (name: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {
    name,
    annotations: Object.fromEntries(['constructor', 'toString'].map((key) => [key, `annotation ${key}`])),
  },
  data: bag((key) => `data ${key}`),
});
const odd = (name: string) => ({
  ...bag((key) => ({ top: key })),
  apiVersion: `${GROUP}/v1`,
  kind: 'Odd',
  metadata: { name },
  spec: bag((key) => bag((inner) => `${key}.${inner}`)),
});

describe('names that objects inherit', { timeout: 60_000 }, () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
    const made = await server.request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', DEFINITION);
    assert.equal(made.status, 201, made.body);
    for (let tries = 0; (await server.request('GET', ODD)).status !== 200; tries++) assert.ok(tries < 1000);
  });
  after(() => server.stop());

  async function write(method: string, path: string, body: object, type = 'application/json'): Promise<void> {
    const answer = await server.request(method, path, body, type);
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.body}`);
  }

  /** Everything that was sent is there, and the fields of someone name it. */
  async function holds(path: string, sent: object): Promise<void> {
    const { body } = await server.request('GET', path);
    const stored: unknown = JSON.parse(body);
    for (const [place, value] of leaves(sent)) assert.equal(at(stored, place), value, `${path} ${place.join('.')}`);
    const owned = (at(stored, ['metadata', 'managedFields']) as { fieldsV1: unknown }[]).map(
      ({ fieldsV1 }) => fieldsV1,
    );
    for (const [place] of leaves(sent)) {
      if (['apiVersion', 'kind', 'metadata.name'].includes(place.join('.'))) continue;
      const steps = place.map((step) => `f:${step}`);
      assert.ok(
        owned.some((fields) => at(fields, steps) !== undefined),
        `nobody owns ${place.join('.')} of ${path}`,
      );
    }
  }

  const WAYS = [
    ['PATCH', 'application/merge-patch+json'],
    ['PATCH', 'application/apply-patch+yaml'],
    ['PUT', 'application/json'],
    ['PATCH', 'application/strategic-merge-patch+json'],
  ] as const;

  it('are kept by a create', async () => {
    await write('POST', MAPS, configMap('created'));
    await holds(`${MAPS}/created`, configMap('created'));
    await write('POST', ODD, odd('created'));
    await holds(`${ODD}/created`, odd('created'));
  });

  for (const [method, type] of WAYS) {
    it(`are kept by a ${method} of ${type}`, async () => {
      const name = type.replaceAll(/[^a-z]/g, '-');
      for (const [path, of] of [
        [MAPS, configMap],
        [ODD, odd],
      ] as const) {
        if (path === ODD && type.includes('strategic')) continue;
        const query = type.includes('apply') ? '?fieldManager=a&force=true' : '';
        const own = { [path === MAPS ? 'data' : 'spec']: { first: '1' } };
        const bare = { ...of(name), ...own, metadata: { name } };
        await write('POST', path, Object.fromEntries(Object.entries(bare).filter(([key]) => !NAMES.includes(key))));
        const { resourceVersion } = JSON.parse((await server.request('GET', `${path}/${name}`)).body).metadata;
        const object = of(name);
        if (method === 'PUT') Object.assign(object.metadata, { resourceVersion });
        await write(method, `${path}/${name}${query}`, object, type);
        await holds(`${path}/${name}`, of(name));
        if (method === 'PUT') continue;
        // Once more, when they are there already.
        await write(method, `${path}/${name}${query}`, of(name), type);
        await holds(`${path}/${name}`, of(name));
      }
    });
  }

  it('are kept by a JSON patch', async () => {
    await write('POST', MAPS, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'json' },
      data: { first: '1' },
    });
    const operations = NAMES.map((name) => ({ op: 'add', path: `/data/${name}`, value: `data ${name}` }));
    await write(
      'PATCH',
      `${MAPS}/json`,
      [{ op: 'add', path: '/data', value: {} }, ...operations],
      'application/json-patch+json',
    );
    await holds(`${MAPS}/json`, { data: bag((key) => `data ${key}`) });
  });

  it('go when who applied them applies without them', async () => {
    const path = `${MAPS}/applied?fieldManager=b`;
    await write('PATCH', path, configMap('applied'), 'application/apply-patch+yaml');
    await holds(`${MAPS}/applied`, configMap('applied'));
    await write(
      'PATCH',
      path,
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'applied' }, data: { other: '1' } },
      'application/apply-patch+yaml',
    );
    const { body } = await server.request('GET', `${MAPS}/applied`);
    assert.deepEqual(Object.keys(JSON.parse(body).data), ['other']);
  });
});

function* leaves(value: unknown, path: readonly string[] = []): Generator<[readonly string[], unknown]> {
  if (typeof value !== 'object' || value === null) yield [path, value];
  else for (const [name, member] of Object.entries(value)) yield* leaves(member, [...path, name]);
}

function at(value: unknown, path: readonly string[]): unknown {
  let found: unknown = value;
  for (const step of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, step)) return undefined;
    found = (found as Record<string, unknown>)[step];
  }
  return found;
}
