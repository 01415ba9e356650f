// CRDs and what they define, over the whole API: created, served, changed, deleted.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { apiextensionsKinds } from '../apis/apiextensions/index.js';
import type { CustomResourceDefinition, JSONSchemaProps } from '../schema/generated/apiextensions.v1.js';
import { type Answer, TestApi } from '../server/testing/test-api.js';
import { serveCrds } from '../server/testing/serve-crds.js';

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const THINGS = '/apis/example.test/v1/namespaces/default/things';

let api: TestApi;
let stop: AbortController;

beforeEach(async () => {
  api = new TestApi({ kinds: apiextensionsKinds() });
  stop = new AbortController();
  await serveCrds(api, stop.signal);
});

afterEach(() => {
  stop.abort();
  api.resources.close();
});

const SCHEMA: JSONSchemaProps = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      required: ['size'],
      properties: { size: { type: 'integer', maximum: 10 }, color: { type: 'string', default: 'red' } },
    },
    status: { type: 'object', properties: { replicas: { type: 'integer' } } },
  },
};

const version = (name: string, storage: boolean, schema = SCHEMA): object => ({
  name,
  served: true,
  storage,
  schema: { openAPIV3Schema: schema },
  subresources: { status: {}, scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.replicas' } },
});

const crdWith = (versions: readonly object[], plural = 'things', kind = 'Thing'): object => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.example.test` },
  spec: { group: 'example.test', scope: 'Namespaced', names: { plural, kind }, versions },
});

const thing = (spec: object, name = 'a', more: object = {}): object => ({
  apiVersion: 'example.test/v1',
  kind: 'Thing',
  metadata: { name, ...more },
  spec,
});

/** Watches a CRD until it is as wanted; undefined once it is gone. */
async function until(name: string, wanted: (crd: CustomResourceDefinition | undefined) => boolean): Promise<void> {
  const watch = await api.watch(`${DEFINITIONS}?watch=1&fieldSelector=metadata.name%3D${name}.example.test`);
  for (;;) {
    const { type, object } = await watch.next();
    if (!wanted(type === 'DELETED' ? undefined : (object as unknown as CustomResourceDefinition))) continue;
    watch.stop();
    return;
  }
}

const hasCondition =
  (type: string, status: string, reason: string) =>
  (crd: CustomResourceDefinition | undefined): boolean =>
    crd?.status.conditions?.some((one) => one.type === type && one.status === status && one.reason === reason) ?? false;

async function define(body: object, name = 'things'): Promise<void> {
  const answer = await api.send('POST', DEFINITIONS, { body });
  assert.equal(answer.status, 201, answer.bytes.toString());
  await until(name, hasCondition('Established', 'True', 'InitialNamesAccepted'));
}

const post = (body: object, query = ''): Promise<Answer> => api.send('POST', THINGS + query, { body });
const merge = (target: string, body: object): Promise<Answer> =>
  api.send('PATCH', target, { body, headers: { 'content-type': 'application/merge-patch+json' } });

test('what a CRD defines is served once it is established', async () => {
  await define(crdWith([version('v1', true)]));
  const created = await post(thing({ size: 3, unknown: 1 }));
  assert.equal(created.status, 201);
  assert.deepEqual(created.warnings, ['unknown field "spec.unknown"']);
  assert.deepEqual(created.body.spec, { color: 'red', size: 3 });
  const got = await api.send('GET', `${THINGS}/a`);
  assert.match(
    got.bytes.toString(),
    /^\{"apiVersion":"example.test\/v1","kind":"Thing","metadata":\{"creationTimestamp"/,
  );
  const list = (await api.send('GET', THINGS)).bytes.toString();
  assert.match(list, /^\{"apiVersion":"example.test\/v1","items":\[\{"apiVersion":"example.test\/v1","kind":"Thing",/);
  assert.match(list, /\],"kind":"ThingList","metadata":\{"continue":"","resourceVersion":"\d+"\}\}\n$/);
});

test('objects that do not fit their schema are refused in its words', async () => {
  await define(crdWith([version('v1', true)]));
  const refused = await post(thing({ size: 1, color: 5 }));
  assert.equal(refused.status, 422);
  assert.equal(
    refused.body.message,
    'Thing.example.test "a" is invalid: spec.color: Invalid value: "integer": spec.color in body must be of type string: "integer"',
  );
  const strict = await post(thing({ size: 1, x: 1 }), '?fieldValidation=Strict');
  assert.equal(
    strict.body.message,
    'Thing in version "v1" cannot be handled as a Thing: strict decoding error: unknown field "spec.x"',
  );
});

test('an update may leave as it is what a newer schema would refuse', async () => {
  await define(crdWith([version('v1', true)]));
  await post(thing({ size: 9 }));
  const before = api.resources.find('example.test', 'v1', 'things');
  const stricter = structuredClone(SCHEMA);
  Object.assign(stricter.properties?.['spec']?.properties?.['size'] ?? {}, { maximum: 5 });
  await merge(`${DEFINITIONS}/things.example.test`, { spec: { versions: [version('v1', true, stricter)] } });
  while (api.resources.find('example.test', 'v1', 'things') === before) await new Promise(setImmediate);
  const other = await merge(`${THINGS}/a`, { spec: { color: 'blue' } });
  assert.equal(other.status, 200, other.bytes.toString());
  assert.equal((await merge(`${THINGS}/a`, { spec: { size: 8 } })).status, 422);
});

test('the status and the scale have endpoints of their own', async () => {
  await define(crdWith([version('v1', true)]));
  await post(thing({ size: 2 }));
  const status = await merge(`${THINGS}/a/status`, { spec: { size: 9 }, status: { replicas: 2 } });
  assert.deepEqual(
    [status.body.spec['size'], status.body.status, status.body.metadata.generation],
    [2, { replicas: 2 }, 1],
  );
  const scaled = await merge(`${THINGS}/a/scale`, { spec: { replicas: 4 } });
  assert.deepEqual([scaled.body.kind, scaled.body.spec], ['Scale', { replicas: 4 }]);
  const after = await api.send('GET', `${THINGS}/a`);
  assert.deepEqual([after.body.spec['size'], after.body.metadata.generation], [4, 2]);
  const other = await merge(`${THINGS}/a/scale`, { metadata: { uid: 'other' }, spec: { replicas: 4 } });
  assert.equal(other.status, 200);
  const negative = await merge(`${THINGS}/a/scale`, { spec: { replicas: -1 } });
  assert.match(negative.body.message, /\.spec\.size: Invalid value: -1: should be a non-negative integer/);
});

test('a status that a write does not bring has its defaults, and they are of nobody', async () => {
  const status = {
    type: 'object',
    default: { phase: 'new' },
    properties: { phase: { type: 'string' }, seen: { type: 'integer', default: 0 } },
  };
  const spec = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  await define(crdWith([version('v1', true, { type: 'object', properties: { spec, status } })]));
  const made = await post({ ...thing({ a: 1 }), status: { phase: 'sent' } }, '?fieldManager=m');
  assert.deepEqual(made.body.status, { phase: 'new', seen: 0 });
  assert.deepEqual(Object.keys(made.body.metadata.managedFields?.[0]?.fieldsV1 ?? {}), ['f:spec']);
  assert.deepEqual((await api.send('GET', `${THINGS}/a`)).body.status, { phase: 'new', seen: 0 });
  assert.deepEqual((await merge(`${THINGS}/a`, { spec: { a: 2 } })).body.status, { phase: 'new', seen: 0 });
});

test('an apply that says null where none may be is refused; other writes leave it out', async () => {
  const spec = {
    type: 'object',
    properties: { a: { type: 'integer' }, b: { type: 'integer', nullable: true }, c: { type: 'integer', default: 3 } },
  };
  await define(crdWith([version('v1', true, { type: 'object', properties: { spec } })]));
  const apply = (said: object): Promise<Answer> =>
    api.send('PATCH', `${THINGS}/a?fieldManager=m`, { body: thing(said), headers: APPLY });
  assert.match((await apply({ a: null })).body.message, /spec\.a in body must be of type integer: "null"/);
  assert.deepEqual((await apply({ b: null, c: null })).body.spec, { b: null, c: 3 });
  assert.deepEqual((await merge(`${THINGS}/a`, { spec: { a: 1 } })).body.spec, { a: 1, b: null, c: 3 });
  assert.deepEqual((await post(thing({ a: null }, 'b'))).body.spec, { c: 3 });
});

test('an applied null is valid where no type is stated, is owned, and is gone', async () => {
  const open = { 'x-kubernetes-preserve-unknown-fields': true };
  const spec = { type: 'object', required: ['a'], properties: { a: open, b: { ...open, nullable: true }, c: open } };
  await define(crdWith([version('v1', true, { type: 'object', properties: { spec } })]));
  const body = thing({ a: null, b: null, c: { d: null } });
  for (const query of ['fieldManager=m', 'fieldManager=m&dryRun=All', 'fieldManager=m']) {
    const applied = await api.send('PATCH', `${THINGS}/a?${query}`, { body, headers: APPLY });
    assert.deepEqual(applied.body.spec, { b: null, c: { d: null } });
    const owned = applied.body.metadata.managedFields?.[0]?.fieldsV1 as { readonly 'f:spec': object };
    assert.deepEqual(Object.keys(owned['f:spec']), ['f:a', 'f:b', 'f:c']);
    assert.deepEqual((await api.send('GET', `${THINGS}/a`)).body.spec, { b: null, c: { d: null } });
  }
});

test('a default may be a whole number of any length', async () => {
  const spec = { type: 'object', properties: { a: { type: 'integer', default: 2 ** 53 } } };
  await define(crdWith([version('v1', true, { type: 'object', properties: { spec } })]));
  const { bytes } = await post(thing({}));
  assert.match(bytes.toString(), /"spec":\{"a":9007199254740992\}/);
});

test('a type beside integer-or-text is what an apply must say', async () => {
  const either = { type: 'integer', 'x-kubernetes-int-or-string': true };
  const spec = { type: 'object', properties: { a: either } };
  await define(crdWith([version('v1', true, { type: 'object', properties: { spec } })]));
  const made = await post(thing({ a: '50%' }));
  assert.deepEqual([made.status, made.body.metadata.managedFields], [201, undefined]);
  const applied = await api.send('PATCH', `${THINGS}/b?fieldManager=m`, {
    body: thing({ a: '50%' }, 'b'),
    headers: APPLY,
  });
  assert.match(applied.body.message, /\.spec\.a: expected numeric \(int or float\), got string/);
});

test('of a text with a format an apply may say any scalar', async () => {
  const text = (format?: string): JSONSchemaProps => ({ type: 'string', ...(format && { format }) });
  const spec = { type: 'object', properties: { time: text('date-time'), bytes: text('byte'), plain: text() } };
  await define(crdWith([version('v1', true, { type: 'object', properties: { spec } })]));
  const apply = async (said: object): Promise<string> =>
    (await api.send('PATCH', `${THINGS}/a?fieldManager=m`, { body: thing(said), headers: APPLY })).body.message;
  assert.match(await apply({ time: { a: 1 } }), /\.spec\.time: expected any scalar, got &\{map\[a:1\]\}/);
  assert.match(await apply({ time: true }), /spec\.time in body must be of type date-time/);
  assert.match(await apply({ bytes: 1 }), /\.spec\.bytes: expected string/);
  assert.match(await apply({ plain: 1 }), /\.spec\.plain: expected string/);
});

test('versions differ by their schemas, and the newest is what defaults come from', async () => {
  const older: JSONSchemaProps = {
    type: 'object',
    properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } },
  };
  await define(crdWith([version('v1', true), version('v1beta1', false, older)]));
  await post(thing({ size: 2 }));
  const read = await api.send('GET', THINGS.replace('v1', 'v1beta1'));
  assert.deepEqual(read.body.items[0]?.spec, { size: 2 });
  assert.equal(read.body.items[0]?.apiVersion, 'example.test/v1beta1');
});

test('what is read has the defaults of the version that is stored, and none of the version it is read in', async () => {
  const newer: JSONSchemaProps = {
    type: 'object',
    properties: {
      spec: { type: 'object', properties: { size: { type: 'integer' }, added: { type: 'string', default: 'x' } } },
    },
  };
  await define(crdWith([version('v1', true), version('v2', false, newer)]));
  await post(thing({ size: 2 }));
  const read = await api.send('GET', `${THINGS.replace('v1', 'v2')}/a`);
  assert.deepEqual(read.body.spec, { size: 2 });
});

test('an object without a kind is refused with its own text', async () => {
  await define(crdWith([version('v1', true)]));
  const { kind: _, ...kindless } = thing({ size: 1 }) as { kind: string };
  const sent = JSON.stringify(kindless);
  const refused = await api.send('POST', THINGS, { body: kindless });
  const why = `Object 'Kind' is missing in '${sent}'`;
  assert.equal(
    refused.body.message,
    `the object provided is unrecognized (must be of type Thing): ${why} (${sent.slice(0, 30)} ...)`,
  );
  const ignored = await api.send('POST', `${THINGS}?fieldValidation=Ignore`, { body: kindless });
  assert.equal(ignored.body.message, `Thing in version "v1" cannot be handled as a Thing: ${why}`);
  const { apiVersion: __, ...versionless } = thing({ size: 1 }) as { apiVersion: string };
  assert.equal(
    (await api.send('POST', THINGS, { body: versionless })).body.message,
    'the API version in the data () does not match the expected API version (example.test/v1)',
  );
});

test('a deleted CRD deletes its objects, and waits for those that are held', async () => {
  await define(crdWith([version('v1', true)]));
  await post(thing({ size: 1 }, 'free'));
  await post(thing({ size: 1 }, 'held', { finalizers: ['example.test/hold'] }));
  const listed = api.resources.all();
  assert.equal((await api.send('DELETE', `${DEFINITIONS}/things.example.test`)).status, 200);
  await until('things', hasCondition('Terminating', 'True', 'InstanceDeletionInProgress'));
  const refused = await post(thing({ size: 1 }, 'late'));
  assert.equal(refused.status, 403);
  assert.match(refused.body.message, /create not allowed while custom resource definition is terminating$/);
  assert.notEqual(api.resources.all(), listed, 'with other verbs it is listed anew');
  const gone = until('things', (crd) => crd === undefined);
  assert.equal((await merge(`${THINGS}/held`, { metadata: { finalizers: null } })).status, 200);
  await gone;
});

test('of two that want one kind the first gets it, and the other when the first is gone', async () => {
  await define(crdWith([version('v1', true)]));
  await api.send('POST', DEFINITIONS, { body: crdWith([version('v1', true)], 'others', 'Thing') });
  await until('others', hasCondition('NamesAccepted', 'False', 'ListKindConflict'));
  await api.send('DELETE', `${DEFINITIONS}/things.example.test`);
  await until('others', hasCondition('Established', 'True', 'InitialNamesAccepted'));
});

test('the first condition of a CRD in a protected group is about its approval', async () => {
  const body = {
    ...crdWith([version('v1', true)]),
    metadata: {
      name: 'gates.example.k8s.io',
      annotations: { 'api-approved.kubernetes.io': 'https://github.com/kubernetes/enhancements/pull/1111' },
    },
    spec: {
      group: 'example.k8s.io',
      scope: 'Cluster',
      names: { plural: 'gates', kind: 'Gate' },
      versions: [version('v1', true)],
    },
  };
  const watch = await api.watch(`${DEFINITIONS}?watch=1&fieldSelector=metadata.name%3Dgates.example.k8s.io`);
  assert.equal((await api.send('POST', DEFINITIONS, { body })).status, 201);
  const typesIn = (object: unknown): readonly string[] =>
    ((object as CustomResourceDefinition).status.conditions ?? []).map(({ type }) => type);
  let types: readonly string[] = [];
  while (types.length < 3) types = typesIn((await watch.next()).object);
  assert.deepEqual(types, ['KubernetesAPIApprovalPolicyConformant', 'NamesAccepted', 'Established']);
});

test('a CRD in the place of a built-in kind serves nothing and deletes nothing of it', async () => {
  await define(crdWith([version('v1', true)]));
  const group = 'apiextensions.k8s.io';
  const body = {
    ...crdWith([version('v1', true)]),
    metadata: {
      name: `customresourcedefinitions.${group}`,
      annotations: { 'api-approved.kubernetes.io': 'unapproved, a test' },
    },
    spec: {
      group,
      scope: 'Cluster',
      names: { plural: 'customresourcedefinitions', kind: 'Odd' },
      versions: [version('v1', true)],
    },
  };
  assert.equal((await api.send('POST', DEFINITIONS, { body })).status, 201);
  const odd = `${DEFINITIONS}/customresourcedefinitions.${group}`;
  const watch = await api.watch(
    `${DEFINITIONS}?watch=1&fieldSelector=metadata.name%3Dcustomresourcedefinitions.${group}`,
  );
  const seen: string[] = [];
  for (let event = await watch.next(); event.type !== 'DELETED'; event = await watch.next()) {
    const crd = event.object as unknown as CustomResourceDefinition;
    seen.push(...(crd.status.conditions ?? []).map(({ type, reason }) => `${type}=${reason ?? ''}`));
    if (seen.at(-1)?.startsWith('KubernetesAPIApproval')) await api.send('DELETE', odd);
  }
  assert.ok(seen.includes('KubernetesAPIApprovalPolicyConformant=UnapprovedAnnotation'), seen.join(' '));
  const left = await api.send('GET', DEFINITIONS);
  assert.deepEqual(
    left.body.items.map(({ metadata }) => metadata.name),
    ['things.example.test'],
  );
});

test('an update that changes nothing moves an object to the version that is stored now', async () => {
  const versions = (stored: string): object[] => [version('v1', stored === 'v1'), version('v2', stored === 'v2')];
  await define(crdWith(versions('v1')));
  const made = await post(thing({ size: 1 }));
  const before = api.resources.find('example.test', 'v1', 'things');
  await merge(`${DEFINITIONS}/things.example.test`, { spec: { versions: versions('v2') } });
  while (api.resources.find('example.test', 'v1', 'things') === before) await new Promise(setImmediate);
  const store = api.resources.find('example.test', 'v1', 'things')?.registry.store;
  const revision = Number((made.body.metadata as { resourceVersion: string }).resourceVersion);
  assert.equal(await store?.isStale('default/a', revision, true), true);
  const moved = await merge(`${THINGS}/a`, {});
  assert.equal(moved.status, 200);
  const after = Number((moved.body.metadata as { resourceVersion: string }).resourceVersion);
  assert.ok(after > revision);
  assert.equal(await store?.isStale('default/a', after, true), false);
});

test('a status may say it is of another kind, and whose fields those are is forgotten; what has no version is a fault', async () => {
  await define(crdWith([version('v1', true)]));
  const created = await post(thing({ size: 3 }));
  assert.ok(created.body.metadata.managedFields?.length === 1);
  const sent = { ...created.body, kind: 'Other', status: { replicas: 2 } };
  const dry = await api.send('PUT', `${THINGS}/a/status?dryRun=All`, { body: sent });
  assert.deepEqual([dry.status, dry.body.kind, dry.body.metadata.managedFields], [200, 'Thing', undefined]);
  const other = { kind: 'Other', apiVersion: 'other.test/v2' };
  const patched = await merge(`${THINGS}/a/status`, { ...other, status: { replicas: 1 } });
  const { kind, apiVersion, metadata } = patched.body;
  assert.deepEqual([patched.status, kind, apiVersion], [200, 'Thing', 'example.test/v1']);
  assert.equal(metadata.managedFields, undefined);
  const { resourceVersion } = metadata;
  const body = { ...thing({ size: 3 }, 'a', { resourceVersion }), kind: 'Other', status: { replicas: 2 } };
  const put = await api.send('PUT', `${THINGS}/a/status`, { body });
  assert.deepEqual([put.status, put.body.kind, put.body.status], [200, 'Thing', { replicas: 2 }]);
  assert.equal((await merge(`${THINGS}/a`, other)).status, 422);
  for (const path of [`${THINGS}/a`, `${THINGS}/a/status`]) {
    const refused = await merge(path, { apiVersion: null });
    assert.deepEqual([refused.status, refused.body.reason], [500, 'InternalError']);
  }
});

test('a kind or apiVersion that is null is reported as missing or as no text', async () => {
  await define(crdWith([version('v1', true)]));
  const kindless = await post({ ...thing({ size: 3 }), kind: null });
  assert.match(
    kindless.body.message,
    /^the object provided is unrecognized \(must be of type Thing\): Object 'Kind' is/,
  );
  const versionless = await post({ ...thing({ size: 3 }), apiVersion: null });
  assert.equal(
    versionless.body.message,
    'Thing in version "" cannot be handled as a Thing: .apiVersion accessor error: <nil> is of the type <nil>, expected string',
  );
});

test('of a type without members an apply may say anything, and nothing is kept of it', async () => {
  const [stated] = [version('v1', true)];
  const body = crdWith([{ ...stated, subresources: { status: { x: 1 } } }]);
  const headers = { 'content-type': 'application/apply-patch+yaml' };
  const applied = await api.send('PATCH', `${DEFINITIONS}/things.example.test?fieldManager=m`, { body, headers });
  assert.equal(applied.status, 201, applied.bytes.toString());
  const { versions } = applied.body.spec as { versions: readonly { subresources: object }[] };
  assert.deepEqual(versions[0]?.subresources, { status: {} });
});

test('a scale of a custom resource is read as one whatever it leaves out, and as nothing else', async () => {
  await define(crdWith([version('v1', true)]));
  await post(thing({ size: 3 }));
  const path = `${THINGS}/a/scale`;
  const patched = await merge(path, { apiVersion: null, kind: null, spec: { replicas: 4 } });
  assert.deepEqual([patched.status, patched.body.kind, patched.body.spec], [200, 'Scale', { replicas: 4 }]);
  const said = async (body: object): Promise<string> => (await merge(path, body)).body.message;
  assert.match(await said({ kind: 'Other' }), /in scheme "k8s.io\/client-go\/scale\/util.go:146"$/);
  assert.match(await said({ apiVersion: 'apps/v1beta2' }), /converting \(v1beta2.Scale\) to \(v1.Scale\)/);
  const put = await api.send('PUT', path, { body: { kind: 'Other', apiVersion: 'autoscaling/v1' } });
  assert.deepEqual([put.status, put.body.reason], [400, 'BadRequest']);
  assert.match(put.body.message, /^no kind is registered for the type v1.Scale/);
});

/** Each of the versions has a member that the others do not know; the last is not served. */
const ownMember = (name: string): JSONSchemaProps => {
  const properties = { n: { type: 'integer' }, [name]: { type: 'string' } };
  return {
    type: 'object',
    properties: { spec: { type: 'object', properties }, status: { type: 'object', properties } },
  };
};
const THREE = [
  version('v1', true, ownMember('one')),
  version('v2', false, ownMember('two')),
  { ...version('v3', false, ownMember('three')), served: false },
].map(({ subresources: _, ...rest }: { subresources?: unknown }) => ({ ...rest, subresources: { status: {} } }));
const said = (name: string): object => ({ apiVersion: `example.test/${name}` });
const unknown = (...paths: string[]): string[] => paths.map((path) => `unknown field "${path}"`);

test('a patched status is read as the version it says, and a version that is none knows nothing of it', async () => {
  await define(crdWith(THREE));
  const status = { n: 1, one: '1', two: '2', x: 0 };
  const patched = async (name: string, query = ''): Promise<unknown[]> => {
    await post(thing({ n: 1 }, name.toLowerCase()));
    const answer = await merge(`${THINGS}/${name.toLowerCase()}/status${query}`, { ...said(name), status });
    const { body } = answer;
    return [answer.status, answer.warnings, (body as { status?: unknown }).status, body.metadata.managedFields?.length];
  };
  assert.deepEqual(await patched('v1'), [200, unknown('status.two', 'status.x'), { n: 1, one: '1' }, 2]);
  assert.deepEqual(await patched('v2'), [200, unknown('status.one', 'status.x'), { n: 1 }, undefined]);
  assert.deepEqual(await patched('v3'), [200, unknown('status.one', 'status.two', 'status.x'), { n: 1 }, 2]);
  assert.deepEqual(await patched('v9'), [200, unknown('spec', 'status'), undefined, undefined]);
  assert.equal((await patched('v9', '?fieldValidation=Strict'))[0], 422);
  const nameless = await merge(`${THINGS}/v9/status`, said(''));
  assert.deepEqual([nameless.status, nameless.body.reason], [500, 'InternalError']);
});

test('what says it is of another version is warned of by that before it is refused', async () => {
  await define(crdWith(THREE));
  const body = { ...thing({ n: 1, one: '1', x: 0 }), ...said('v2') };
  const posted = await post(body);
  assert.deepEqual([posted.status, posted.warnings], [400, unknown('spec.one', 'spec.x')]);
  assert.match((await post(body, '?fieldValidation=Strict')).body.message ?? '', /strict decoding error/);
  await post(thing({ n: 1 }));
  const patched = await merge(`${THINGS}/a`, { ...said('v2'), spec: { one: '1' } });
  assert.deepEqual([patched.status, patched.warnings], [422, unknown('spec.one')]);
  const named = await merge(`${THINGS}/a`, { apiVersion: '/v1' });
  assert.match(named.body.message ?? '', /apiVersion: Invalid value: "v1": must be example.test\/v1/);
  const nameless = await merge(`${THINGS}/a`, said(''));
  assert.deepEqual([nameless.status, nameless.warnings], [500, unknown('spec')]);
});

test('what a version has and another does not know stands in the way of applies, and makes owners forgotten', async () => {
  await define(crdWith(THREE));
  const at = (name: string): string => THINGS.replace('/v1/', `/${name}/`);
  const apply = (name: string, spec: object, manager: string): Promise<Answer> =>
    api.send('PATCH', `${at(name)}/a?force=true&fieldManager=${manager}`, {
      body: { ...thing(spec), ...said(name) },
      headers: { 'content-type': 'application/apply-patch+yaml' },
    });
  assert.equal((await apply('v1', { n: 1 }, 'first')).status, 201);
  const refused = await apply('v2', { two: '2' }, 'second');
  const why = 'failed to convert new object: .spec.two: field not declared in schema';
  assert.deepEqual([refused.status, refused.body.message], [500, why]);
  assert.equal((await apply('v2', { n: 2 }, 'second')).body.metadata.managedFields?.length, 1);
  const status = await merge(`${at('v1')}/a/status`, { spec: { n: 3 }, status: { n: 1 } });
  const owners = status.body.metadata.managedFields?.map(({ manager }) => manager);
  assert.deepEqual(owners, ['unknown'], 'the fields that an endpoint resets are reset in its own version only');
  const merged = await merge(`${at('v2')}/a`, { spec: { two: '2' } });
  assert.deepEqual([merged.status, merged.body.metadata.managedFields], [200, undefined]);
});

test('a version that a CRD has no more stands in the way of applies while others own fields in it', async () => {
  await define(crdWith(THREE));
  await api.send('POST', THINGS.replace('/v1/', '/v2/'), { body: { ...thing({ n: 1 }), ...said('v2') } });
  const crd = (await api.send('GET', `${DEFINITIONS}/things.example.test`)).body as unknown as CustomResourceDefinition;
  const versions = crd.spec.versions?.filter(({ name }) => name !== 'v2');
  await api.send('PUT', `${DEFINITIONS}/things.example.test`, { body: { ...crd, spec: { ...crd.spec, versions } } });
  while (api.resources.find('example.test', 'v2', 'things') !== undefined) await new Promise(setImmediate);
  const headers = { 'content-type': 'application/apply-patch+yaml' };
  const applied = await api.send('PATCH', `${THINGS}/a?fieldManager=m`, { body: thing({ one: '1' }), headers });
  const why = 'request to convert CR to an invalid group/version: example.test/v2';
  assert.deepEqual([applied.status, applied.body.message], [500, why]);
  assert.equal((await merge(`${THINGS}/a`, { spec: { n: 2 } })).body.metadata.managedFields, undefined);
});

test('one custom resource is no list, and an error to a client that wants one', async () => {
  await define(crdWith([version('v1', true)]));
  await post(thing({ size: 1 }));
  const getAsList = (path: string): Promise<Answer> =>
    api.send('GET', path, { headers: { accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io' } });
  const { status, body } = await getAsList(`${THINGS}/a`);
  assert.deepEqual([status, body.message], [500, 'content is not a list']);
  const scale = await getAsList(`${THINGS}/a/scale`);
  assert.equal(scale.status, 406);
  assert.match(scale.body.message ?? '', /is not a list \(\*v1\.Scale\)$/);
});

const APPLY = { 'content-type': 'application/apply-patch+yaml' };

test('who sends what an endpoint does not change in a form that it has not is forgotten as an owner', async () => {
  await define(crdWith([version('v1', true)]));
  const posted = await post({ ...thing({ size: 1 }), status: '5' }, '?fieldValidation=Ignore');
  assert.deepEqual([posted.status, posted.body.metadata.managedFields], [201, undefined]);
});

test('a resource that is one value has no owners, and an apply without its version replaces what it may not', async () => {
  const whole = version('v1', true, { ...SCHEMA, 'x-kubernetes-map-type': 'atomic' });
  await define(crdWith([{ ...whole, subresources: {} }]));
  assert.equal((await post(thing({ size: 1 }))).body.metadata.managedFields, undefined);
  const applied = await api.send('PATCH', `${THINGS}/a?fieldManager=m`, { body: thing({ size: 2 }), headers: APPLY });
  assert.deepEqual([applied.status, applied.body.details?.causes?.[0]?.field], [422, 'metadata.resourceVersion']);
});

test('what is open to unknown members is so all the way down to an apply', async () => {
  const inner = { type: 'object', properties: { a: { type: 'string' } } };
  const open = { type: 'object', properties: { spec: inner }, 'x-kubernetes-preserve-unknown-fields': true };
  await define(crdWith([version('v1', true, open)]));
  const body = thing({ a: 'x', other: 1 });
  assert.equal((await api.send('PATCH', `${THINGS}/a?fieldManager=m`, { body, headers: APPLY })).status, 201);
});

test('an update that changes nothing is refused for what a newer schema wants at the root', async () => {
  await define(crdWith([version('v1', true)]));
  await post(thing({ size: 1 }));
  const wanting = crdWith([version('v1', true, { ...SCHEMA, required: ['more'] })]) as { spec: object };
  await merge(`${DEFINITIONS}/things.example.test`, { spec: wanting.spec });
  const find = (): unknown => api.resources.find('example.test', 'v1', 'things');
  const before = find();
  while (find() === before && (await merge(`${THINGS}/a`, {})).status === 200) await new Promise(setImmediate);
  assert.match((await merge(`${THINGS}/a`, {})).body.message ?? '', /more: Required value/);
});

test('a scale whose place the schema does not know changes nothing', async () => {
  const closed: JSONSchemaProps = { type: 'object', properties: { other: { type: 'string' } } };
  await define(crdWith([version('v1', true, { type: 'object', properties: { spec: closed } })]));
  await post(thing({ other: 'x' }));
  assert.equal((await merge(`${THINGS}/a/scale`, { spec: { replicas: 3 } })).status, 200);
  assert.deepEqual((await api.send('GET', `${THINGS}/a`)).body.spec, { other: 'x' });
});

test('a resource of no namespace cannot be selected by one, and a version that goes is reported below it', async () => {
  const old = { ...version('v1', true), deprecated: true, subresources: {} };
  const crd = crdWith([old]) as { spec: object };
  await define({ ...crd, spec: { ...crd.spec, scope: 'Cluster' } });
  const things = '/apis/example.test/v1/things';
  const selected = await api.send('GET', `${things}?fieldSelector=metadata.namespace%3Da`);
  assert.deepEqual([selected.status, selected.body.message], [400, 'field label not supported: metadata.namespace']);
  const below = await api.send('GET', `${things}/a/status`);
  assert.deepEqual([below.status, below.warnings], [404, ['example.test/v1 Thing is deprecated']]);
});

test('a version that sees less of an object than is stored changes nothing where it sends back what it sees', async () => {
  await define(crdWith(THREE));
  await post(thing({ n: 1, one: '1' }));
  const unchanged = await merge(`${THINGS.replace('/v1/', '/v2/')}/a`, {});
  assert.deepEqual([unchanged.status, unchanged.body.metadata.generation], [200, 1]);
  const stored = await api.send('GET', `${THINGS}/a`);
  assert.deepEqual(stored.body.spec, { n: 1 }, 'what it does not see is lost nevertheless');
});
