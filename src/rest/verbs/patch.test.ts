import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { deployments } from '../../apis/apps/deployment/definition.js';
import { leases } from '../../apis/coordination/lease.js';
import { configMaps } from '../../apis/core/configmap/definition.js';
import { pods } from '../../apis/core/pod/definition.js';
import { resourceQuotas } from '../../apis/core/resourcequota/definition.js';
import { runtimeClasses } from '../../apis/node/runtime-class.js';
import { applyMergePatch } from '../../machinery/merge-patch.js';
import type { JsonObject } from '../../machinery/object.js';
import type { KindDefinition } from '../../registry/kind.js';
import { encodeCborTree } from '../../schema/cbor/encode.js';
import { TestApi } from '../../server/testing/test-api.js';
import { MEDIA_TYPES } from '../wire/media-types.js';

const MAPS = '/api/v1/namespaces/n/configmaps';
const DEPLOYMENTS = '/apis/apps/v1/namespaces/n/deployments';
const JSON_PATCH = 'application/json-patch+json';
const MERGE = 'application/merge-patch+json';
const STRATEGIC = 'application/strategic-merge-patch+json';
const APPLY = 'application/apply-patch+yaml';
const APPLY_CBOR = 'application/apply-patch+cbor';
const kinds = [configMaps, deployments, leases, pods] as readonly KindDefinition[];
const open = (over: Partial<ConstructorParameters<typeof TestApi>[0]> = {}): TestApi => new TestApi({ kinds, ...over });

async function withMap(data: object = { k: '1' }): Promise<TestApi> {
  const api = open();
  await api.post(MAPS, { metadata: { name: 'a' }, data });
  return api;
}

const deployment = {
  metadata: { name: 'd' },
  spec: {
    selector: { matchLabels: { a: 'b' } },
    template: {
      metadata: { labels: { a: 'b' } },
      spec: {
        containers: [
          { name: 'one', image: 'i' },
          { name: 'two', image: 'i' },
        ],
      },
    },
  },
};
const imagesOf = (spec: Readonly<Record<string, unknown>>): string[] => {
  const { containers } = (spec['template'] as { spec: { containers: { name: string; image: string }[] } }).spec;
  return containers.map(({ name, image }) => `${name}=${image}`);
};

test('an apply comes in CBOR, too, where objects do', async () => {
  const map = (name: string): Buffer =>
    encodeCborTree({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name }, data: { k: '1' } });
  const api = open();
  const { status, body } = await api.patch(`${MAPS}/a?fieldManager=m`, APPLY_CBOR, map('a'));
  assert.equal(status, 201);
  assert.deepEqual(body.metadata?.managedFields?.[0]?.fieldsV1, { 'f:data': { 'f:k': {} } });
  const broken = await api.patch(`${MAPS}/b?fieldManager=m`, APPLY_CBOR, map('b').subarray(0, -2));
  assert.deepEqual([broken.status, broken.body.message], [400, 'error decoding YAML: unexpected EOF']);
  const without = open({ services: { mediaTypes: MEDIA_TYPES } });
  assert.equal((await without.patch(`${MAPS}/a?fieldManager=m`, APPLY_CBOR, map('a'))).status, 415);
});

test('who applies a uid means an object that is there', async () => {
  const api = open();
  const applied = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', uid: 'u' } };
  const { status, body } = await api.patch(`${MAPS}/a?fieldManager=m`, APPLY, applied);
  assert.deepEqual(
    [status, body.message],
    [
      409,
      'Operation cannot be fulfilled on configmaps "a": uid mismatch: the provided object specified uid u, and no existing object was found',
    ],
  );
});

test('an applied configuration that is none is refused in the words of its reader', async () => {
  const api = open();
  for (const [type, sent, words] of [
    [
      APPLY,
      '[]',
      'error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go value of type map[string]interface {}',
    ],
    [
      APPLY,
      '5',
      'error unmarshaling JSON: while decoding JSON: json: cannot unmarshal number into Go value of type map[string]interface {}',
    ],
    [APPLY_CBOR, encodeCborTree([]), 'cbor: cannot unmarshal array into Go value of type map[string]interface {}'],
  ] as const) {
    const { status, body } = await api.patch(`${MAPS}/a?fieldManager=m`, type, sent);
    assert.deepEqual([status, body.message], [400, `error decoding YAML: ${words}`]);
  }
  const nothing = await api.patch(`${MAPS}/a?fieldManager=m`, APPLY, '');
  assert.deepEqual([nothing.status, nothing.body.message], [400, 'invalid object type: /, Kind=']);
  const twice = 'kind: ConfigMap\napiVersion: v1\nmetadata:\n  name: a\n  name: a\n';
  const strict = await api.patch(`${MAPS}/a?fieldManager=m&fieldValidation=Strict`, APPLY, twice);
  assert.equal(
    strict.body.message,
    'error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  line 5: key "name" already set in map',
  );
  const warned = await api.patch(`${MAPS}/a?fieldManager=m`, APPLY, twice);
  assert.deepEqual(warned.warnings, ['line 5: key "name" already set in map']);
});

test('a patch of an unknown sort is 415', async () => {
  const api = await withMap();
  for (const type of ['application/json', '', 'text/plain']) {
    const { status, body } = await api.patch(`${MAPS}/a`, type, {});
    assert.deepEqual([status, body.message, body.details], [415, '415: Unsupported Media Type', {}], type);
  }
  assert.equal((await api.patch(`${MAPS}/a`, `${MERGE}; charset=utf-8`, {})).status, 200);
});

test('a patch of a known sort among others, or between spaces, is 415 with what is accepted', async () => {
  const api = await withMap();
  for (const type of [` ${MERGE}`, `${MERGE} `, `text/plain, ${MERGE};q=1`]) {
    const { status, body } = await api.patch(`${MAPS}/a`, type, {});
    assert.equal(status, 415, type);
    assert.match(
      String(body.message),
      /^the body of the request was in an unknown format - accepted media types include: /,
    );
  }
});

test('only an apply creates what is missing', async () => {
  const api = open();
  for (const [type, body] of [
    [JSON_PATCH, []],
    [MERGE, {}],
    [STRATEGIC, {}],
  ] as const) {
    const missing = await api.patch(`${MAPS}/a`, type, body);
    assert.deepEqual([missing.status, missing.body.message], [404, 'configmaps "a" not found'], type);
    // Not even where an update would.
    const lease = await api.patch('/apis/coordination.k8s.io/v1/namespaces/n/leases/l', type, body);
    assert.deepEqual([lease.status, lease.body.message], [404, 'leases.coordination.k8s.io "l" not found'], type);
  }
  const config = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { k: 'v' } };
  const dry = await api.patch(`${MAPS}/a?fieldManager=me&dryRun=All`, APPLY, config);
  assert.equal(dry.status, 201);
  assert.equal((await api.get(`${MAPS}/a`)).status, 404);
  assert.equal((await api.patch(`${MAPS}/a?fieldManager=me`, APPLY, config)).status, 201);
  assert.equal((await api.patch(`${MAPS}/a?fieldManager=me`, APPLY, config)).status, 200);
});

test('what is wrong with a patch of nothing is that there is nothing', async () => {
  const api = open();
  for (const [type, patch] of [
    [JSON_PATCH, '{'],
    [MERGE, '['],
    [STRATEGIC, '7'],
  ] as const) {
    assert.equal((await api.patch(`${MAPS}/none`, type, patch)).status, 404, type);
  }
});

test('a kind that a PUT creates is not created by a patch either', async () => {
  const api = open({ kinds: [runtimeClasses] as readonly KindDefinition[] });
  const missing = await api.patch('/apis/node.k8s.io/v1/runtimeclasses/r', MERGE, {});
  assert.deepEqual([missing.status, missing.body.message], [404, 'runtimeclasses.node.k8s.io "r" not found']);
});

test('an apply of a value that its type cannot hold is refused', async () => {
  const api = open({ kinds: [resourceQuotas] as readonly KindDefinition[] });
  const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'q' }, spec: { hard: { pods: 'many' } } };
  const { status, body } = await api.patch('/api/v1/namespaces/n/resourcequotas/q?fieldManager=me', APPLY, quota);
  assert.equal(status, 500);
  assert.equal(
    body.message,
    'failed to convert new object (/q; /v1, Kind=ResourceQuota) to proper version: unable to convert unstructured object to /v1, Kind=ResourceQuota: ' +
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
  );
});

test('an apply through a subresource creates nothing', async () => {
  const api = open();
  const config = { apiVersion: 'apps/v1', kind: 'Deployment', ...deployment, status: { replicas: 1 } };
  for (const path of [`${DEPLOYMENTS}/d/status`, `${DEPLOYMENTS}/d/scale`]) {
    const { status, body } = await api.patch(`${path}?fieldManager=me`, APPLY, config);
    assert.deepEqual([status, body.message], [404, 'deployments.apps "d" not found'], path);
  }
  assert.equal((await api.get(`${DEPLOYMENTS}/d`)).status, 404);
});

test('each kind of patch changes the object its own way', async () => {
  const api = await withMap({ k: '1', l: '2' });
  const operations = [
    { op: 'test', path: '/data/k', value: '1' },
    { op: 'move', from: '/data/k', path: '/data/m' },
  ];
  assert.deepEqual((await api.patch(`${MAPS}/a`, JSON_PATCH, operations)).body.data, { l: '2', m: '1' });
  assert.deepEqual((await api.patch(`${MAPS}/a`, MERGE, { data: { l: null, n: '3' } })).body.data, { m: '1', n: '3' });
  await api.post(DEPLOYMENTS, deployment);
  const patch = { spec: { template: { spec: { containers: [{ name: 'two', image: 'new' }] } } } };
  const strategic = await api.patch(`${DEPLOYMENTS}/d`, STRATEGIC, patch);
  assert.deepEqual(imagesOf(strategic.body.spec), ['one=i', 'two=new']);
  const merged = await api.patch(`${DEPLOYMENTS}/d`, MERGE, patch);
  assert.deepEqual(imagesOf(merged.body.spec), ['two=new']);
});

test('a JSON patch whose test fails or that is none is refused', async () => {
  const api = await withMap();
  const failed = await api.patch(`${MAPS}/a`, JSON_PATCH, [{ op: 'test', path: '/data/k', value: '2' }]);
  assert.deepEqual([failed.status, failed.body.reason], [422, 'Invalid']);
  assert.equal(failed.body.message, 'the server rejected our request due to an error in our request');
  for (const body of ['{', '{"op":"add"}', '3']) {
    assert.equal((await api.patch(`${MAPS}/a`, JSON_PATCH, body)).status, 400, body);
  }
  assert.deepEqual((await api.get(`${MAPS}/a`)).body.data, { k: '1' });
});

test('a test in a JSON patch compares texts as Go writes them', async () => {
  const api = await withMap();
  await api.patch(`${MAPS}/a`, MERGE, { data: { k: 'a<b' } });
  const status = async (patch: string): Promise<number> => (await api.patch(`${MAPS}/a`, JSON_PATCH, patch)).status;
  const tested = (literal: string): string => `{"op":"test","path":"/data/k","value":${literal}}`;
  assert.equal(await status(`[${tested('"a<b"')}]`), 422);
  assert.equal(await status(`[${tested(String.raw`"a\u003cb"`)}]`), 200);
  assert.equal(await status(`[{"op":"add","path":"/data/k","value":"c<d"},${tested('"c<d"')}]`), 200);
});

test('a JSON patch has at most ten thousand operations', async () => {
  const api = await withMap();
  const operations = Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/data/k', value: '1' }));
  const long = await api.patch(`${MAPS}/a`, JSON_PATCH, operations);
  assert.deepEqual(
    [long.status, long.body.message],
    [413, 'Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001'],
  );
  assert.equal((await api.patch(`${MAPS}/a`, JSON_PATCH, operations.slice(1))).status, 200);
});

test('a number of a patch is read as it is written: a whole one has neither fraction nor exponent', async () => {
  const api = open();
  await api.post(DEPLOYMENTS, deployment);
  for (const number of ['1.0', '1e0', '100e-2', '9223372036854775808']) {
    const sent = { [MERGE]: `{"spec":{"replicas":${number}}}`, [JSON_PATCH]: replacing('/spec/replicas', number) };
    for (const [type, body] of Object.entries(sent)) {
      const refused = await api.send('PATCH', `${DEPLOYMENTS}/d`, { headers: { 'content-type': type }, body });
      assert.equal(refused.status, 422, body);
      assert.match(refused.body.message, new RegExp(`"replicas\\\\":${number.replaceAll('.', '\\.')}[,}]`));
      const field = 'Go struct field DeploymentSpec.spec.replicas of type int32';
      assert.ok(refused.body.message.endsWith(`json: cannot unmarshal number ${number} into ${field}`), body);
    }
  }
  const strategic = { headers: { 'content-type': STRATEGIC }, body: '{"spec":{"replicas":3.0}}' };
  assert.equal((await api.send('PATCH', `${DEPLOYMENTS}/d`, strategic)).body.spec['replicas'], 3);
  const tested = '[{"op":"test","path":"/spec/replicas","value":3.0}]';
  const otherwise = { headers: { 'content-type': JSON_PATCH }, body: tested };
  assert.equal((await api.send('PATCH', `${DEPLOYMENTS}/d`, otherwise)).status, 422);
});

const replacing = (path: string, value: string): string => `[{"op":"replace","path":"${path}","value":${value}}]`;

test('a patch that is no object is refused', async () => {
  const api = await withMap();
  for (const type of [MERGE, STRATEGIC]) {
    for (const body of ['{', '[]', '"x"']) {
      assert.equal((await api.patch(`${MAPS}/a`, type, body)).status, 400, `${type} ${body}`);
    }
  }
});

test('a patch can rename, move or retype nothing', async () => {
  const api = await withMap();
  const renamed = await api.patch(`${MAPS}/a`, MERGE, { metadata: { name: 'b' } });
  assert.deepEqual(
    [renamed.status, renamed.body.message],
    [400, 'the name of the object (b) does not match the name on the URL (a)'],
  );
  const moved = await api.patch(`${MAPS}/a`, MERGE, { metadata: { namespace: 'm' } });
  assert.equal(moved.status, 400);
  const identity = await api.patch(`${MAPS}/a`, MERGE, { metadata: { uid: 'x' } });
  assert.ok([409, 422].includes(identity.status));
  const typed = await api.patch(`${MAPS}/a`, MERGE, { data: { k: 3 } });
  assert.equal(typed.status, 422);
  assert.match(typed.body.message, /cannot unmarshal number into Go struct field ConfigMap.data of type string/);
});

test('what cannot be read is reported by the first decoder', async () => {
  const api = await withMap();
  const said = async (type: string, query: string): Promise<string> =>
    (await api.patch(`${MAPS}/a${query}`, type, 'a: b')).body.message;
  const why = "invalid character 'a' looking for beginning of value";
  assert.equal(await said(MERGE, ''), `error decoding patch: ${why}`);
  assert.equal(await said(JSON_PATCH, ''), `error decoding patch: ${why}`);
  assert.equal(await said(MERGE, '?fieldValidation=Ignore'), 'Invalid JSON Patch');
  assert.equal(await said(JSON_PATCH, '?fieldValidation=Ignore'), why);
  assert.equal(await said(STRATEGIC, '?fieldValidation=Ignore'), why);
});

test('a patch leaves an object what it says it is', async () => {
  const api = await withMap({ k: 'YQ==' });
  const said = async (type: string, body: object): Promise<unknown[]> => {
    const { status, body: answer } = await api.patch(`${MAPS}/a`, type, body);
    return [status, String(answer.message).replace(/.*": /, '')];
  };
  const scheme = 'in scheme "pkg/api/legacyscheme/scheme.go:30"';
  assert.deepEqual(await said(MERGE, { kind: 'Nope' }), [
    422,
    `no kind "Nope" is registered for version "v1" ${scheme}`,
  ]);
  assert.deepEqual(await said(JSON_PATCH, [{ op: 'replace', path: '/apiVersion', value: 'v9' }]), [
    422,
    `no kind "ConfigMap" is registered for version "v9" ${scheme}`,
  ]);
  assert.deepEqual(await said(MERGE, { kind: 'Secret' }), [
    422,
    'converting (v1.Secret) to (core.ConfigMap): unknown conversion',
  ]);
  assert.deepEqual(await said(MERGE, { kind: 'Secret', data: { k: '?' } }), [
    422,
    'illegal base64 data at input byte 0',
  ]);
  assert.deepEqual(await said(MERGE, { kind: 5 }), [
    422,
    "couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field .kind of type string",
  ]);
  assert.deepEqual(await said(MERGE, { apiVersion: null }), [
    400,
    'the name of the object (a based on URL) was undeterminable: name must be provided',
  ]);
  const unversioned = await api.patch(`${MAPS}/a?fieldValidation=Strict`, MERGE, { apiVersion: null });
  assert.equal(unversioned.status, 422);
  assert.match(unversioned.body.message, /strict decoding error: unknown field "data", unknown field "metadata"$/);
  assert.equal((await said(MERGE, { kind: null }))[0], 200);
  assert.equal((await said(STRATEGIC, { kind: 'Secret' }))[0], 200);
});

test('a version in a patch must be the current one', async () => {
  const api = await withMap();
  const stale = await api.patch(`${MAPS}/a`, MERGE, { metadata: { resourceVersion: '1' }, data: { k: '2' } });
  assert.deepEqual([stale.status, stale.body.reason], [409, 'Conflict']);
  const { resourceVersion } = (await api.get(`${MAPS}/a`)).body.metadata;
  assert.equal((await api.patch(`${MAPS}/a`, MERGE, { metadata: { resourceVersion }, data: { k: '2' } })).status, 200);
});

test('a patch that changes nothing writes nothing', async () => {
  const api = await withMap();
  const { resourceVersion } = (await api.get(`${MAPS}/a`)).body.metadata;
  api.nowMs += 5000;
  for (const [type, body] of [
    [JSON_PATCH, []],
    [MERGE, {}],
    [STRATEGIC, { data: { k: '1' } }],
  ] as const) {
    const { body: answer } = await api.patch(`${MAPS}/a`, type, body);
    assert.equal(answer.metadata.resourceVersion, resourceVersion, type);
  }
});

test('what does not belong in a patch is warned of, refused or ignored as requested', async () => {
  const api = await withMap();
  const text = '{"data":{"k":"2"},"data":{"k":"3"},"surplus":1}';
  const strict = await api.patch(`${MAPS}/a?fieldValidation=Strict`, MERGE, text);
  assert.equal(strict.status, 422);
  assert.match(strict.body.message, /strict decoding error: duplicate field "data", unknown field "surplus"/);
  const warned = await api.patch(`${MAPS}/a?dryRun=All`, MERGE, text);
  assert.deepEqual([warned.status, warned.warnings], [200, ['duplicate field "data"', 'unknown field "surplus"']]);
  const ignored = await api.patch(`${MAPS}/a?fieldValidation=Ignore`, MERGE, text);
  assert.deepEqual([ignored.status, ignored.warnings, ignored.body.data], [200, [], { k: '3' }]);
  const apply = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  z: "1"\n  z: "2"\n';
  const twice = await api.patch(`${MAPS}/a?fieldManager=me&fieldValidation=Strict`, APPLY, apply);
  assert.equal(twice.status, 400);
  assert.match(twice.body.message, /^error strict decoding YAML: /);
});

test('an apply needs its manager, and force is for applies alone', async () => {
  const api = await withMap();
  const config = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };
  const nobody = await api.patch(`${MAPS}/a`, APPLY, config);
  assert.equal(nobody.status, 422);
  assert.match(nobody.body.message, /fieldManager: Required value: is required for apply patch/);
  const forced = await api.patch(`${MAPS}/a?force=true`, MERGE, {});
  assert.equal(forced.status, 422);
  assert.match(forced.body.message, /force: Forbidden: may not be specified for non-apply patch/);
  const long = await api.patch(`${MAPS}/a?fieldManager=${'x'.repeat(129)}`, MERGE, {});
  assert.match(long.body.message, /fieldManager: Too long: may not be more than 128 bytes/);
  for (const text of ['a: [', '- 1', 'x']) {
    assert.equal((await api.patch(`${MAPS}/a?fieldManager=me`, APPLY, text)).status, 400, text);
  }
});

test('two appliers conflict over a field until one forces it', async () => {
  const api = open();
  const config = (k: string): object => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { k } });
  await api.patch(`${MAPS}/a?fieldManager=one`, APPLY, config('1'));
  const refused = await api.patch(`${MAPS}/a?fieldManager=two`, APPLY, config('2'));
  assert.deepEqual([refused.status, refused.body.reason], [409, 'Conflict']);
  assert.equal(refused.body.message, 'Apply failed with 1 conflict: conflict with "one": .data.k');
  const forced = await api.patch(`${MAPS}/a?fieldManager=two&force=true`, APPLY, config('2'));
  assert.deepEqual([forced.status, forced.body.data], [200, { k: '2' }]);
  const dropped = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };
  const left = await api.patch(`${MAPS}/a?fieldManager=two`, APPLY, dropped);
  assert.equal(left.body.data, undefined);
});

test('a merge patch made of the differences turns any data into any other', async () => {
  const data = fc.dictionary(fc.stringMatching(/^[a-z][a-z0-9]{0,3}$/), fc.string({ maxLength: 5 }), { maxKeys: 5 });
  const api = await withMap();
  await fc.assert(
    fc.asyncProperty(data, data, async (from, to) => {
      await api.put(`${MAPS}/a`, { metadata: { name: 'a' }, data: from });
      const gone = Object.keys(from).filter((key) => !Object.hasOwn(to, key));
      const patch = { data: { ...to, ...Object.fromEntries(gone.map((key) => [key, null])) } };
      const merged = await api.patch(`${MAPS}/a`, MERGE, patch);
      assert.deepEqual(merged.body.data ?? {}, { ...to });
      const operations = [{ op: 'add', path: '/data', value: from }];
      const replaced = await api.patch(`${MAPS}/a`, JSON_PATCH, operations);
      assert.deepEqual(replaced.body.data ?? {}, { ...from });
    }),
    { numRuns: 60 },
  );
});

test('a merge patch of random trees does what its specification says, twice as once', () => {
  const tree = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.constant(null),
      fc.integer(),
      fc.string({ maxLength: 3 }),
      fc.array(fc.integer(), { maxLength: 2 }),
      tie('object'),
    ),
    object: fc.dictionary(fc.constantFrom('a', 'b', 'c', '__proto__'), tie('value'), { maxKeys: 3 }),
  }));
  const specified = (target: unknown, patch: unknown): unknown => {
    if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
    const isTree = typeof target === 'object' && target !== null && !Array.isArray(target);
    const result = new Map(isTree ? Object.entries(target) : []);
    for (const [member, value] of Object.entries(patch)) {
      if (value === null) result.delete(member);
      else result.set(member, specified(result.get(member), value));
    }
    return Object.fromEntries(result);
  };
  fc.assert(
    fc.property(tree.object, tree.object, (target, patch) => {
      const before = JSON.stringify(target);
      const once = applyMergePatch(target as JsonObject, patch);
      assert.deepEqual(JSON.parse(JSON.stringify(once)), JSON.parse(JSON.stringify(specified(target, patch))));
      assert.deepEqual(applyMergePatch(once, patch), once);
      assert.equal(JSON.stringify(target), before);
    }),
    { numRuns: 300 },
  );
});

test('what is number or text conflicts as anything else, and is refused only as it is read', async () => {
  const api = open();
  await api.post(DEPLOYMENTS, deployment);
  const wrong = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'd' },
    spec: { strategy: { rollingUpdate: { maxSurge: [1] } } },
  };
  const conflicting = await api.patch(`${DEPLOYMENTS}/d?fieldManager=m`, APPLY, wrong);
  assert.deepEqual([conflicting.status, conflicting.body.reason], [409, 'Conflict']);
  const forced = await api.patch(`${DEPLOYMENTS}/d?fieldManager=m&force=true`, APPLY, wrong);
  assert.equal(forced.status, 500);
  assert.equal(
    forced.body.message,
    'failed to convert new object (/d; apps/v1, Kind=Deployment) to proper version: unable to convert unstructured object to apps/v1, Kind=Deployment: json: cannot unmarshal array into Go value of type int32',
  );
});
