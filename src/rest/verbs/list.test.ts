import assert from 'node:assert/strict';
import { test } from 'node:test';
import zlib from 'node:zlib';
import fc from 'fast-check';
import { configMaps } from '../../apis/core/configmap/definition.js';
import { events } from '../../apis/core/event/definition.js';
import { namespaces } from '../../apis/core/namespace/definition.js';
import { pods } from '../../apis/core/pod/definition.js';
import type { KindDefinition } from '../../registry/kind.js';
import { type Body, TestApi } from '../../server/testing/test-api.js';

const MAPS = '/api/v1/namespaces/n/configmaps';
const ALL = '/api/v1/configmaps';
const PODS = '/api/v1/namespaces/n/pods';
const kinds = [configMaps, namespaces, pods] as readonly KindDefinition[];
const open = (over: Partial<ConstructorParameters<typeof TestApi>[0]> = {}): TestApi => new TestApi({ kinds, ...over });
const names = ({ items }: Body): (string | undefined)[] => items.map(({ metadata }) => metadata.name);

async function filled(count: number, over = {}): Promise<TestApi> {
  const api = open(over);
  for (let i = 0; i < count; i++) {
    const labels = { parity: i % 2 === 0 ? 'even' : 'odd' };
    await api.post(MAPS, { metadata: { name: `m${i}`, labels } });
  }
  return api;
}

test('a get accepts no version it cannot read or wait for', async () => {
  const api = await filled(1);
  const wrong = await api.get(`${MAPS}/m0?resourceVersion=x`);
  assert.equal(wrong.status, 500);
  assert.match(
    wrong.body.message,
    /resourceVersion: Invalid value: "x": strconv.ParseUint: parsing "x": invalid syntax/,
  );
  assert.equal((await api.get(`${MAPS}/m0?resourceVersion=0`)).status, 200);
  assert.equal((await api.get(`${MAPS}/m0?resourceVersion=1`)).status, 200);
  const exported = await api.get(`${MAPS}/m0?export=true`);
  assert.equal(exported.status, 400);
});

test('a get of what expires treats a version it cannot read as a mistake of the client', async () => {
  const api = open({ kinds: [events, namespaces] as unknown as KindDefinition[] });
  const { status, body } = await api.get('/api/v1/namespaces/n/events/e?resourceVersion=x');
  assert.equal(status, 400);
  assert.match(body.message, /^invalid resource version: resourceVersion: Invalid value: "x"/);
});

test('selectors are read before options are looked at together, and neither for who accepts no list', async () => {
  const api = await filled(1);
  const query = 'resourceVersionMatch=Exact';
  for (const selector of ['labelSelector=!', 'fieldSelector=metadata.name']) {
    assert.equal((await api.get(`${MAPS}?${query}&${selector}`)).status, 400, selector);
    // A form that lists have not is no reason to refuse before.
    const accept = 'application/json;as=Other;v=v1;g=meta.k8s.io';
    assert.equal((await api.get(`${MAPS}?${selector}`, { accept })).status, 400, selector);
  }
  for (const wrong of [query, 'limit=x']) {
    assert.equal((await api.get(`${MAPS}?${wrong}`, { accept: 'text/html' })).status, 406, wrong);
  }
});

test('objects in no namespace are not selected by one where their kind says what they are selected by', async () => {
  const api = await filled(1);
  const selected = await api.get('/api/v1/namespaces?fieldSelector=metadata.namespace%3Dn');
  assert.equal(selected.status, 400);
  assert.equal(selected.body.message, 'field label not supported: metadata.namespace');
  assert.equal((await api.get(`${MAPS}?fieldSelector=metadata.namespace%3Dn`)).status, 200);
});

test('options that do not go together are refused', async () => {
  const api = await filled(1);
  const wrong: readonly [string, string][] = [
    ['resourceVersionMatch=Exact', 'resourceVersionMatch is forbidden unless resourceVersion is provided'],
    [
      'resourceVersionMatch=Exact&resourceVersion=0',
      'resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
    ],
    [
      'resourceVersionMatch=Near&resourceVersion=3',
      'resourceVersionMatch: Unsupported value: "Near": supported values: "Exact", "NotOlderThan", ""',
    ],
    [
      'resourceVersionMatch=Exact&resourceVersion=3&continue=x',
      'resourceVersionMatch is forbidden when continue is provided',
    ],
    ['sendInitialEvents=true', 'sendInitialEvents is forbidden for list'],
  ];
  for (const [query, text] of wrong) {
    const { status, body } = await api.get(`${MAPS}?${query}`);
    assert.equal(status, 422, query);
    assert.ok(body.message.startsWith('ListOptions.meta.k8s.io "" is invalid: '), body.message);
    assert.ok(body.message.includes(text), body.message);
  }
  const limitless = await api.get(`${MAPS}?limit=`);
  assert.deepEqual([limitless.status, limitless.body.message], [400, 'strconv.ParseInt: parsing "": invalid syntax']);
  for (const query of [
    'resourceVersion=x',
    'resourceVersion=99999999999999999999',
    'limit=99999999999999999999',
    'limit=x',
    'labelSelector=%3D%3D',
    'fieldSelector=a',
    'fieldSelector=spec.x%3D1',
  ]) {
    const { status, body } = await api.get(`${MAPS}?${query}`);
    assert.deepEqual([status, body.reason], [400, 'BadRequest'], query);
  }
});

test('a version not reached in time is too large, and says when to come again', async () => {
  const api = await filled(1);
  const [{ status, body, headers }, one] = await Promise.all([
    api.get(`${MAPS}?resourceVersion=1000000`),
    api.get(`${MAPS}/m0?resourceVersion=1000000`),
    api.advance(3000),
  ]);
  assert.deepEqual([status, body.reason], [504, 'Timeout']);
  assert.match(body.message, /^Timeout: Too large resource version: 1000000, current: \d+$/);
  assert.deepEqual(body.details, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  });
  assert.equal(headers['retry-after'], '1');
  assert.equal(one.status, 504);
});

test('pages follow each other on one state, whatever happens meanwhile', async () => {
  const api = await filled(5);
  const first = (await api.get(`${MAPS}?limit=2`)).body;
  assert.deepEqual(names(first), ['m0', 'm1']);
  assert.equal(first.metadata.remainingItemCount, 3);
  await api.delete(`${MAPS}/m2`);
  await api.post(MAPS, { metadata: { name: 'm1x' } });
  const token = encodeURIComponent(first.metadata.continue ?? '');
  const second = (await api.get(`${MAPS}?limit=2&continue=${token}`)).body;
  assert.deepEqual(names(second), ['m2', 'm3']);
  assert.equal(second.metadata.resourceVersion, first.metadata.resourceVersion);
  const rest = encodeURIComponent(second.metadata.continue ?? '');
  const last = (await api.get(`${MAPS}?continue=${rest}`)).body;
  assert.deepEqual(names(last), ['m4']);
  assert.deepEqual([last.metadata.continue, last.metadata.remainingItemCount], [undefined, undefined]);
  const stated = await api.get(`${MAPS}?limit=2&continue=${token}&resourceVersion=3`);
  assert.deepEqual(
    [stated.status, stated.body.message],
    [400, 'specifying resource version is not allowed when using continue'],
  );
  const both = await api.get(`${MAPS}?continue=bad!&resourceVersion=x`);
  const why = 'invalid continue token: continue key is not valid: illegal base64 data at input byte 3';
  assert.deepEqual([both.status, both.body.message], [400, why]);
});

test('a page beside the selector of one name goes on like any other', async () => {
  const api = await filled(3);
  const bad = await api.get(`${MAPS}?continue=bad!&fieldSelector=metadata.name%3Dm1`);
  const why = 'invalid continue token: continue key is not valid: illegal base64 data at input byte 3';
  assert.deepEqual([bad.status, bad.body.message], [400, why]);
  const token = encodeURIComponent((await api.get(`${MAPS}?limit=1`)).body.metadata.continue ?? '');
  const after = async (name: string): Promise<readonly (string | undefined)[]> =>
    names((await api.get(`${MAPS}?continue=${token}&fieldSelector=metadata.name%3D${name}`)).body);
  assert.deepEqual([await after('m0'), await after('m2')], [[], ['m2']]);
});

test('a selector leaves out the remaining count', async () => {
  const api = await filled(6);
  const page = (await api.get(`${MAPS}?limit=1&labelSelector=parity%3Dodd`)).body;
  assert.deepEqual(names(page), ['m1']);
  assert.ok(page.metadata.continue);
  assert.equal(page.metadata.remainingItemCount, undefined);
  const one = (await api.get(`${MAPS}?fieldSelector=metadata.name%3Dm3`)).body;
  assert.deepEqual(names(one), ['m3']);
  const others = (await api.get(`${MAPS}?fieldSelector=metadata.name!%3Dm3,metadata.namespace%3Dn`)).body;
  assert.equal(others.items.length, 5);
  const none = (await api.get(`${ALL}?fieldSelector=metadata.namespace%3Dother`)).body;
  assert.deepEqual(none.items, []);
});

test('a token of a state that is gone goes on at the newest one', async () => {
  const api = await filled(5, { cache: false });
  const first = (await api.get(`${MAPS}?limit=2`)).body;
  await api.delete(`${MAPS}/m3`);
  await api.kv.compact(await api.kv.revision());
  const token = encodeURIComponent(first.metadata.continue ?? '');
  const gone = await api.get(`${MAPS}?limit=2&continue=${token}`);
  assert.deepEqual([gone.status, gone.body.reason], [410, 'Expired']);
  assert.match(gone.body.message, /^The provided continue parameter is too old to display a consistent list result/);
  const onward = encodeURIComponent(gone.body.metadata.continue ?? '');
  assert.deepEqual(names((await api.get(`${MAPS}?continue=${onward}`)).body), ['m2', 'm4']);
  const exact = await api.get(`${MAPS}?resourceVersion=2&resourceVersionMatch=Exact`);
  assert.deepEqual(
    [exact.status, exact.body.reason, exact.body.message],
    [410, 'Expired', 'The resourceVersion for the provided list is too old.'],
  );
});

test('tokens that no list issued are refused, however large', async () => {
  const api = await filled(1);
  const forged = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  for (const token of [
    '!',
    'x'.repeat(100_000),
    forged({}),
    forged({ v: 'meta.k8s.io/v1', rv: 2, start: '../../secrets' }),
    forged({ v: 'meta.k8s.io/v9', rv: 2, start: 'n/m0' }),
    Buffer.from('[]').toString('base64url'),
  ]) {
    const { status } = await api.get(`${MAPS}?limit=1&continue=${encodeURIComponent(token)}`);
    assert.equal(status, 400, token.slice(0, 40));
  }
});

test('an exact version shows the past, one not to be older the present', async () => {
  const api = await filled(3);
  const { resourceVersion } = (await api.get(`${MAPS}/m1`)).body.metadata;
  const past = (await api.get(`${MAPS}?resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`)).body;
  assert.deepEqual(names(past), ['m0', 'm1']);
  assert.equal(past.metadata.resourceVersion, resourceVersion);
  const present = (await api.get(`${MAPS}?resourceVersion=${resourceVersion}&resourceVersionMatch=NotOlderThan`)).body;
  assert.equal(present.items.length, 3);
  assert.equal((await api.get(`${MAPS}?resourceVersion=0`)).body.items.length, 3);
});

test('items carry no kind of their own, and an empty list is a list', async () => {
  const api = await filled(1);
  const [item] = (await api.get(MAPS)).body.items;
  assert.equal(item?.kind, undefined);
  const empty = await api.get('/api/v1/namespaces/none/configmaps');
  assert.match(
    empty.bytes.toString(),
    /^\{"kind":"ConfigMapList","apiVersion":"v1","metadata":\{"resourceVersion":"\d+"\},"items":\[\]\}\n$/,
  );
});

test('a large answer is compressed for a client that accepts gzip, and whole for all', async () => {
  const api = open();
  for (let i = 0; i < 8; i++) await api.post(MAPS, { metadata: { name: `m${i}` }, data: { a: 'é'.repeat(40_000) } });
  const plain = await api.get(MAPS);
  assert.equal(plain.headers['content-encoding'], undefined);
  assert.equal(plain.body.items.length, 8);
  const gzipped = await api.get(MAPS, { 'accept-encoding': 'deflate, gzip' });
  assert.equal(gzipped.headers['content-encoding'], 'gzip');
  assert.ok(gzipped.bytes.length < plain.bytes.length / 10);
  assert.deepEqual(zlib.gunzipSync(gzipped.bytes), plain.bytes);
  const refused = await api.get(MAPS, { 'accept-encoding': 'gzip;q=0' });
  assert.equal(refused.headers['content-encoding'], undefined);
  const small = await api.get(`${MAPS}?limit=1`, { 'accept-encoding': 'gzip' });
  assert.equal(small.headers['content-encoding'], undefined);
});

test('a long list is indented piece by piece as it would be at once', async () => {
  const api = open();
  for (let i = 0; i < 12; i++) {
    const data = { a: `"[é{,:"`.repeat(8_000), b: '', [`c${i}`]: '\\' };
    await api.post(MAPS, { metadata: { name: `m${i}` }, data });
  }
  const plain = await api.get(`${MAPS}?limit=11`);
  assert.ok(plain.bytes.length > 3 * 256 * 1024, 'more than a few pieces');
  const pretty = await api.get(`${MAPS}?limit=11&pretty=1`);
  assert.equal(pretty.bytes.toString(), JSON.stringify(plain.body, undefined, 2));
});

test('pods are found by where they run', async () => {
  const api = open();
  for (const [name, nodeName] of [
    ['p', 'x'],
    ['q', 'y'],
  ] as const) {
    await api.post(PODS, { metadata: { name }, spec: { nodeName, containers: [{ name: 'c', image: 'i' }] } });
  }
  assert.deepEqual(names((await api.get(`${PODS}?fieldSelector=spec.nodeName%3Dy`)).body), ['q']);
  assert.deepEqual(names((await api.get(`${PODS}?fieldSelector=spec.nodeName!%3Dy,status.phase%3DPending`)).body), [
    'p',
  ]);
});

test('whatever happens between pages, each object of the first state is shown once', async () => {
  const step = fc.record({ name: fc.integer({ min: 0, max: 12 }), action: fc.constantFrom('put', 'delete') });
  const history = fc.record({
    before: fc.array(step, { maxLength: 15 }),
    pages: fc.array(fc.record({ limit: fc.integer({ min: 1, max: 4 }), meanwhile: fc.array(step, { maxLength: 4 }) }), {
      minLength: 1,
      maxLength: 6,
    }),
    cache: fc.boolean(),
    labelled: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(history, async ({ before, pages, cache, labelled }) => {
      const api = open({ cache });
      const run = async (steps: readonly { name: number; action: string }[]): Promise<void> => {
        for (const { name, action } of steps) {
          const path = `/api/v1/namespaces/n${name % 2}/configmaps`;
          if (action === 'delete') await api.delete(`${path}/m${name}`);
          else await api.post(path, { metadata: { name: `m${name}`, labels: { third: String(name % 3) } } });
        }
      };
      await run(before);
      const query = labelled ? '&labelSelector=third%3D1' : '';
      const whole = (await api.get(`${ALL}?x=1${query}`)).body;
      const shown: Body[] = [];
      let token = '';
      for (let i = 0; i === 0 || token !== ''; i++) {
        const { limit, meanwhile } = pages[i % pages.length] as (typeof pages)[number];
        const { status, body } = await api.get(
          `${ALL}?limit=${limit}${query}${token && `&continue=${encodeURIComponent(token)}`}`,
        );
        assert.equal(status, 200);
        assert.ok(body.items.length <= limit);
        assert.equal(body.metadata.resourceVersion, whole.metadata.resourceVersion);
        const { remainingItemCount } = body.metadata;
        shown.push(...body.items);
        if (remainingItemCount !== undefined) assert.equal(shown.length + remainingItemCount, whole.items.length);
        token = body.metadata.continue ?? '';
        await run(meanwhile);
      }
      assert.deepEqual(shown, whole.items);
    }),
    { numRuns: 60 },
  );
});
