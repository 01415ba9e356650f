import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject, KubeObject, ManagedFieldsEntry } from '../../machinery/object.js';
import { StatusError } from '../../machinery/status.js';
import { mustType, typeOf } from '../catalogue.js';
import { fieldSetText } from '../json/encode.js';
import { fieldsText } from '../lazy-fields.js';
import type { Field, StructType, Type } from '../type.js';
import { applyPatch, applySteps, type ApplyWrite } from './apply-patch.js';
import { ResumableWalk } from '../../lib/scheduling/resumable-walk.js';
import { runSync } from '../../lib/scheduling/yield.js';
import { keepUnchangedTimes, managerFromUserAgent, updateManagedFields, type UpdateWrite } from './field-manager.js';
import { FieldSet } from './field-set.js';
import { compare } from './compare.js';
import { merge } from './merge.js';
import { sharedFields } from '../shared-fields.js';
import { fromScaleManagedFields, toScaleManagedFields } from './scale-managers.js';
import { toFieldSet } from './to-field-set.js';
import { UnconvertedError } from './versions.js';

const mustTypeOf = (group: string, kind: string): StructType => typeOf(group, 'v1', kind) as StructType;
const configMap = mustTypeOf('', 'ConfigMap');
const service = mustTypeOf('', 'Service');
const deployment = mustTypeOf('apps', 'Deployment');
const time = new Date('2020-01-01T00:00:00.500Z');

type Shape = {
  metadata: { managedFields?: ManagedFieldsEntry[]; annotations?: JsonObject };
  data?: JsonObject;
  spec?: JsonObject;
};

function apply(manager: string, live: object | undefined, patch: JsonObject, more: Partial<ApplyWrite> = {}): Shape {
  const write = {
    type: configMap,
    apiVersion: 'v1',
    kind: 'ConfigMap',
    manager,
    subresource: '',
    time,
    force: false,
    ...more,
  };
  const whole = { apiVersion: write.apiVersion, kind: write.kind, ...patch };
  return applyPatch({ ...write, live: live as JsonObject | undefined, patch: whole }) as Shape;
}

test('pruning yields to the event loop between any two passes', () => {
  const write = {
    type: configMap,
    apiVersion: 'v1',
    kind: 'ConfigMap',
    manager: 'a',
    subresource: '',
    time,
    force: false,
    live: apply('a', undefined, { metadata: { name: 'm' }, data: { a: '1', b: '2', c: '3' } }) as JsonObject,
  };
  let passes = 0;
  const data = { a: '1', b: '3' };
  const counted = new Proxy(data, {
    ownKeys(target) {
      passes++;
      return Reflect.ownKeys(target);
    },
  });
  const patch = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm' }, data: counted };
  const inEachStep: number[] = [];
  for (const steps = applySteps({ ...write, patch }); steps.next().done !== true; passes = 0) inEachStep.push(passes);
  // Whether both sides are empty is checked before they are walked.
  assert.ok(Math.max(...inEachStep) <= 2, inEachStep.join());
  assert.ok(inEachStep.length > 20, `${inEachStep.length} steps`);
});

function update(
  manager: string,
  live: object | undefined,
  object: object,
  more: Partial<UpdateWrite<KubeObject>> = {},
): Shape {
  const newObject = structuredClone(object) as KubeObject;
  updateManagedFields({
    type: configMap,
    apiVersion: 'v1',
    manager,
    subresource: '',
    time,
    live: live as KubeObject | undefined,
    newObject,
    ...more,
  });
  return newObject;
}

const owners = ({ metadata }: Shape): Record<string, unknown> =>
  Object.fromEntries((metadata.managedFields ?? []).map(({ manager, fieldsV1 }) => [manager, fieldsV1]));

function refusal(action: () => unknown): StatusError {
  try {
    action();
  } catch (error) {
    if (error instanceof StatusError) return error;
    throw error;
  }
  throw new Error('was not refused');
}

test('the wire form has one order: fields, keys by value, values, positions', () => {
  const wire = {
    'v:"x"': {},
    'k:{"port":443}': { '.': {}, 'f:b': {}, 'f:a': {} },
    'k:{ "port": 80 }': {},
    'f:z': { '.': {} },
    'i:1': {},
    'f:a': { 'f:b': {} },
    'x:later': {},
  };
  assert.equal(
    JSON.stringify(FieldSet.decode(wire).encode()),
    '{"f:a":{"f:b":{}},"f:z":{},"k:{\\"port\\":80}":{},"k:{\\"port\\":443}":{".":{},"f:a":{},"f:b":{}},"v:\\"x\\"":{},"i:1":{}}',
  );
  assert.throws(() => FieldSet.decode({ f: {} }));
});

test('difference removes members, recursive difference also what is below', () => {
  const set = FieldSet.decode({ 'f:a': { '.': {}, 'f:b': {} }, 'f:c': {} });
  const other = FieldSet.decode({ 'f:a': {} });
  assert.deepEqual(set.difference(other).encode(), { 'f:a': { 'f:b': {} }, 'f:c': {} });
  assert.deepEqual(set.recursiveDifference(other).encode(), { 'f:c': {} });
  assert.deepEqual(set.intersection(other).encode(), { 'f:a': {} });
  assert.deepEqual(other.union(FieldSet.decode({ 'f:a': { 'f:x': {} } })).encode(), { 'f:a': { '.': {}, 'f:x': {} } });
});

test('a set that is the same as an earlier one is that one, and a part of it is included', () => {
  const earlier = FieldSet.of(['f:a'], ['f:b', 'f:c']);
  assert.equal(FieldSet.of(['f:b', 'f:c'], ['f:a']).orSame(earlier), earlier);
  const more = FieldSet.of(['f:a'], ['f:b'], ['f:b', 'f:c']);
  assert.equal(more.orSame(earlier), more);
  assert.ok(more.includes(earlier) && !earlier.includes(more));
  assert.ok(!FieldSet.of(['f:a'], ['f:b']).includes(earlier));
});

test('a shared set is read once, and written as it is, in the order of steps', () => {
  const shared = sharedFields('{"f:a":{},"f:b":{".":{},"f:c":{}}}');
  assert.equal(FieldSet.decode(shared), FieldSet.decode(shared));
  assert.equal(FieldSet.decode(shared).encode(), shared);
  const other = sharedFields('{"f:b":{"f:c":{},".":{}},"f:a":{}}');
  assert.equal(JSON.stringify(FieldSet.decode(other).encode()), JSON.stringify(shared));
});

test('a set is one tree with every set of the same steps, whoever has read or made it', () => {
  const paths = [
    ['f:spec', 'k:{"name":"a \\"b\\""}'],
    ['f:spec', 'k:{"name":"a \\"b\\""}', 'f:x<y'],
    ['f:spec', 'v:"é"'],
    ['f:status'],
  ];
  const made = FieldSet.of(...paths);
  const tree = made.encodeShared(new ResumableWalk());
  assert.equal(JSON.stringify(tree), JSON.stringify(FieldSet.of(...paths).encode()));
  assert.equal(fieldsText(tree), fieldSetText(FieldSet.of(...paths).encode()));
  assert.equal(FieldSet.of(...paths).encodeShared(new ResumableWalk()), tree);
  assert.ok(FieldSet.decode(tree).equals(made));
  assert.throws(() => Object.assign(tree, { 'f:more': {} }), TypeError);
});

test('few items with keys of their own are compared one by one, and give the same in any order', () => {
  const type = mustType('io.k8s.api.core.v1.PodSpec');
  const spec = (names: string[], image = 'i'): object => ({ containers: names.map((name) => ({ name, image })) });
  const texts = (set: FieldSet): string[] => [...set.paths()].map((path) => path.join(' '));
  const changed = 'f:containers k:{"name":"b"} f:image';
  const [before, after] = [spec(['a', 'b']), spec(['a', 'b'])] as [object, { containers: { image: string }[] }];
  assert.ok(after.containers[1]);
  after.containers[1].image = 'j';
  assert.deepEqual(texts(compare(before, after, type).changed), [changed]);
  after.containers.reverse();
  assert.deepEqual(texts(compare(before, after, type).changed), [changed]);
  // What comes and goes does so among few as among many.
  const others = Array.from({ length: 20 }, (_, at) => `o${at}`);
  for (const same of [[], others]) {
    const { changed: added, removed } = compare(spec([...same, 'a', 'b']), spec(['c', ...same, 'a']), type);
    const whole = (name: string): string[] =>
      ['', ' f:image', ' f:name'].map((below) => `f:containers k:{"name":"${name}"}${below}`);
    assert.deepEqual([texts(added), texts(removed)], [whole('c'), whole('b')]);
  }
  // Two of one name cannot be distinguished, and count as one value.
  const twice = compare(spec(['a', 'a']), spec(['a', 'a'], 'j'), type);
  assert.deepEqual(texts(twice.changed), ['f:containers k:{"name":"a"}']);
  assert.throws(() => compare({ containers: [null] }, { containers: [null] }, type), /may not have a null element/);
});

test('a create owns what was set, with a dot where the type would print nothing', () => {
  const object = { metadata: { name: 'c', uid: 'u', labels: { a: 'b' } }, data: { x: '1' } };
  assert.deepEqual(update('m', undefined, object).metadata.managedFields, [
    {
      manager: 'm',
      operation: 'Update',
      apiVersion: 'v1',
      time: '2020-01-01T00:00:00Z',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:data': { '.': {}, 'f:x': {} }, 'f:metadata': { 'f:labels': { '.': {}, 'f:a': {} } } },
    },
  ]);
});

test('an embedded object is one value, and a time that was not set is no change', () => {
  const revision = { metadata: { name: 'r' }, data: { spec: { x: 1 } }, revision: 1 };
  const more = { type: mustTypeOf('apps', 'ControllerRevision'), apiVersion: 'apps/v1' };
  assert.deepEqual(owners(update('m', undefined, revision, more))['m'], { 'f:data': {}, 'f:revision': {} });
  const event = { metadata: { name: 'e' }, eventTime: null, reason: 'r' };
  const owned = owners(update('m', undefined, event, { type: mustTypeOf('', 'Event') }));
  assert.deepEqual(owned['m'], { 'f:reason': {} });
});

test('an update removes what it changes from its owners, and nothing else', () => {
  const live = update('m1', undefined, { metadata: { name: 'c', uid: 'u' }, data: { x: '1', y: '1' } });
  const next = update('m2', live, { ...live, data: { x: '2', z: '1' } });
  assert.deepEqual(owners(next), { m1: { 'f:data': {} }, m2: { 'f:data': { 'f:x': {}, 'f:z': {} } } });
  const same = update('m3', next, next, { time: new Date('2021-01-01T00:00:00Z') });
  assert.deepEqual(same.metadata.managedFields, next.metadata.managedFields);
});

test('managers are forgotten on request and come back with the first apply', () => {
  const live = update('m1', undefined, { metadata: { name: 'c', uid: 'u' }, data: { x: '1' } });
  const forgotten = update('m1', live, { ...live, metadata: { ...live.metadata, managedFields: [{}] } });
  assert.equal(forgotten.metadata.managedFields, undefined);
  assert.equal(update('m1', forgotten, { ...forgotten, data: { x: '2' } }).metadata.managedFields, undefined);
  const applied = apply('m2', forgotten, { metadata: { name: 'c' }, data: { y: '1' } });
  assert.deepEqual(owners(applied), {
    m2: { 'f:data': { 'f:y': {} } },
    'before-first-apply': { 'f:data': { '.': {}, 'f:x': {} } },
  });
});

test('only ten updaters are kept by name', () => {
  let live = update('m0', undefined, { metadata: { name: 'c', uid: 'u' }, data: { k0: '' } });
  for (let n = 1; n <= 12; n++) {
    const at = new Date(time.getTime() + n * 1000);
    live = update(`m${n}`, live, { ...live, data: { ...live.data, [`k${n}`]: '' } }, { time: at });
  }
  assert.equal(live.metadata.managedFields?.length, 10);
  const [oldest] = live.metadata.managedFields ?? [];
  assert.equal(oldest?.manager, 'ancient-changes');
  assert.deepEqual(oldest?.fieldsV1, { 'f:data': { '.': {}, 'f:k0': {}, 'f:k1': {}, 'f:k2': {}, 'f:k3': {} } });
});

test('an applier gives up what it no longer says; shared fields stay', () => {
  let live = apply('m1', undefined, { metadata: { name: 'c', uid: 'u' }, data: { a: '1', b: '2', s: '3' } });
  live = apply('m2', live, { metadata: { name: 'c' }, data: { c: '4', s: '3' } });
  live = apply('m1', live, { metadata: { name: 'c' }, data: { a: '1' } });
  assert.deepEqual(live.data, { c: '4', s: '3', a: '1' });
  assert.deepEqual(owners(live), { m1: { 'f:data': { 'f:a': {} } }, m2: { 'f:data': { 'f:c': {}, 'f:s': {} } } });
});

test('an apply that says all it said before removes nothing, not even what nobody owns within its items', () => {
  const of = (container: JsonObject): JsonObject => ({
    metadata: { name: 'd' },
    spec: { template: { spec: { containers: [{ name: 'one', ...container }] } } },
  });
  const more = { type: deployment, apiVersion: 'apps/v1', kind: 'Deployment' };
  const containers = ({ spec }: Shape): unknown =>
    (spec as { template: { spec: { containers: unknown } } }).template.spec.containers;
  const first = apply('a', undefined, of({ image: 'i', stdin: true }), more);
  const live = { ...first, spec: of({ image: 'i', stdin: true, tty: true })['spec'] };
  const again = apply('a', live, of({ image: 'j', stdin: true, workingDir: '/' }), more);
  assert.deepEqual(containers(again), [{ name: 'one', image: 'j', stdin: true, tty: true, workingDir: '/' }]);
  assert.deepEqual(containers(apply('a', again, of({ image: 'j' }), more)), [{ name: 'one', image: 'j', tty: true }]);
});

test('a conflict names its owners and fields; force overrides them', () => {
  const live = update('kubectl-edit', undefined, { metadata: { name: 'c', uid: 'u' }, data: { a: '1', b: '1' } });
  const applied = apply('m1', live, { metadata: { name: 'c' }, data: { d: '1' } });
  const one = refusal(() => apply('m2', applied, { metadata: { name: 'c' }, data: { a: '2' } }));
  assert.equal(one.code, 409);
  assert.equal(one.message, 'Apply failed with 1 conflict: conflict with "kubectl-edit" using v1: .data.a');
  assert.deepEqual(one.details?.causes, [
    { reason: 'FieldManagerConflict', message: 'conflict with "kubectl-edit" using v1', field: '.data.a' },
  ]);
  const several = { metadata: { name: 'c' }, data: { a: '2', b: '2', d: '2' } };
  assert.equal(
    refusal(() => apply('m2', applied, several)).message,
    'Apply failed with 3 conflicts: conflicts with "kubectl-edit" using v1:\n- .data.a\n- .data.b\nconflicts with "m1":\n- .data.d',
  );
  assert.deepEqual(owners(apply('m2', applied, several, { force: true })), {
    'kubectl-edit': { 'f:data': {} },
    m2: { 'f:data': { 'f:a': {}, 'f:b': {}, 'f:d': {} } },
  });
});

test('keyed items are distinguished by their keys, defaults included, and keep their order', () => {
  const more = { type: service, kind: 'Service', force: true };
  const live = apply(
    'm1',
    undefined,
    { metadata: { name: 's', uid: 'u' }, spec: { ports: [{ port: 80, name: 'h' }] } },
    more,
  );
  const next = apply(
    'm2',
    live,
    { metadata: { name: 's' }, spec: { ports: [{ port: 443 }, { port: 80, protocol: 'UDP' }] } },
    more,
  );
  assert.deepEqual(next.spec?.['ports'], [{ port: 80, name: 'h' }, { port: 443 }, { port: 80, protocol: 'UDP' }]);
  const keys = Object.keys(
    ((owners(next)['m2'] as JsonObject)['f:spec'] as Record<string, object>)['f:ports'] as object,
  );
  assert.deepEqual(keys, ['k:{"port":80,"protocol":"UDP"}', 'k:{"port":443,"protocol":"TCP"}']);
  const duplicate = { metadata: { name: 's', namespace: 'n' }, spec: { ports: [{ port: 80 }, { port: 80 }] } };
  assert.equal(
    refusal(() => apply('m1', live, duplicate, more)).message,
    'failed to create typed patch object (n/s; /v1, Kind=Service): .spec.ports: duplicate entries for key [port=80,protocol="TCP"]',
  );
});

test('a configuration that does not fit its type is refused with every place', () => {
  const more = { type: deployment, apiVersion: 'apps/v1', kind: 'Deployment' };
  const message = (spec: object): string =>
    refusal(() => apply('m', undefined, { metadata: { name: 'd' }, spec }, more)).message;
  assert.equal(
    message({ foo: 1 }),
    'failed to create typed patch object (/d; apps/v1, Kind=Deployment): .spec.foo: field not declared in schema',
  );
  assert.equal(
    message({ replicas: 'x', paused: 1 }),
    'failed to create typed patch object (/d; apps/v1, Kind=Deployment): errors:\n  .spec.replicas: expected numeric (int or float), got string\n  .spec.paused: expected boolean, got &{1}',
  );
  assert.equal(
    refusal(() => apply('m', undefined, { kind: 'Pod', metadata: {} })).message,
    'invalid object type: /v1, Kind=Pod',
  );
  assert.equal(
    refusal(() => apply('m', undefined, { apiVersion: 'a/b/c', kind: 'ConfigMap', metadata: {} })).message,
    'invalid object type: /, Kind=',
  );
  assert.equal(
    message({ template: { spec: { hostname: { b: [1, 'x', null], a: {} } } } }),
    'failed to create typed patch object (/d; apps/v1, Kind=Deployment): .spec.template.spec.hostname: expected string, got &value.valueUnstructured{Value:map[string]interface {}{"a":map[string]interface {}{}, "b":[]interface {}{1, "x", interface {}(nil)}}}',
  );
  assert.equal(
    refusal(() => apply('m', undefined, { metadata: { managedFields: [] } })).message,
    'metadata.managedFields must be nil',
  );
});

test('kubectl adopts what client-side apply set and nobody changed', () => {
  const annotation = 'kubectl.kubernetes.io/last-applied-configuration';
  const configuration = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' }, data: { a: '1', b: '1' } };
  const created = {
    metadata: { name: 'c', uid: 'u', annotations: { [annotation]: JSON.stringify(configuration) } },
    data: configuration.data,
  };
  const live = update('kubectl-client-side-apply', undefined, created);
  const applied = apply('kubectl', live, { metadata: { name: 'c' }, data: { a: '2', b: '1' } });
  assert.equal(
    applied.metadata.annotations?.[annotation],
    '{"apiVersion":"v1","data":{"a":"2","b":"1"},"kind":"ConfigMap","metadata":{"name":"c"}}\n',
  );
  const changed = update('editor', live, { ...live, data: { a: '3', b: '1' } });
  assert.equal(
    refusal(() => apply('kubectl', changed, { metadata: { name: 'c' }, data: { a: '2', b: '2' } })).message,
    'Apply failed with 1 conflict: conflict with "editor" using v1: .data.a',
  );
});

test('an apply that changes nothing keeps its time', () => {
  const live = apply('m1', undefined, { metadata: { name: 'c', uid: 'u' }, data: { a: '1' } });
  const again = apply(
    'm1',
    live,
    { metadata: { name: 'c' }, data: { a: '1' } },
    { time: new Date('2021-01-01T00:00:00Z') },
  );
  assert.deepEqual(again, live);
});

test('a field set of another version is compared in that version', () => {
  const field = (json: string, type: Type): Field => ({
    json,
    type,
    proto: 0,
    omitEmpty: true,
    pointer: false,
    required: false,
  });
  const struct = (name: string, ...fields: Field[]): StructType => ({
    kind: 'struct',
    name,
    fields,
    byJson: new Map(fields.map((member) => [member.json, member])),
  });
  const string: Type = { kind: 'scalar', scalar: 'string' };
  const meta = field('metadata', { kind: 'scalar', scalar: 'any' });
  const common = [field('apiVersion', string), field('kind', string), meta];
  const types: Record<string, StructType> = {
    'x/v1': struct('V1', ...common, field('old', string)),
    'x/v2': struct('V2', ...common, field('new', string)),
  };
  const versions = {
    typeAt: (apiVersion: string) => types[apiVersion],
    convert: (object: JsonObject, _: string, apiVersion: string): JsonObject => {
      const { old, new: current, ...rest } = object;
      return { ...rest, apiVersion, [apiVersion === 'x/v1' ? 'old' : 'new']: old ?? current };
    },
  };
  const v1 = { type: types['x/v1'] as StructType, apiVersion: 'x/v1', kind: 'K', versions };
  const v2 = { type: types['x/v2'] as StructType, apiVersion: 'x/v2', kind: 'K', versions };
  const first = apply('m1', undefined, { metadata: { name: 'c', uid: 'u' }, old: '1' }, v1);
  const live = versions.convert(first, 'x/v1', 'x/v2');
  assert.equal(
    refusal(() => apply('m2', live, { metadata: { name: 'c' }, new: '2' }, v2)).message,
    'Apply failed with 1 conflict: conflict with "m1": .old',
  );
  assert.deepEqual(owners(apply('m1', live, { metadata: { name: 'c' }, new: '2' }, v2)), { m1: { 'f:new': {} } });
  const convert = (): never => {
    throw new UnconvertedError('not today');
  };
  const newObject = { ...live, new: '3' } as unknown as KubeObject;
  const write = { ...v2, manager: 'm3', subresource: '', time: new Date(0), versions: { ...versions, convert } };
  updateManagedFields({ ...write, live: live as unknown as KubeObject, newObject });
  assert.equal(newObject.metadata.managedFields, undefined, 'nobody knows whose fields those are');
});

test('live items that cannot be distinguished count as one', () => {
  const twice = {
    metadata: {},
    spec: {
      ports: [
        { port: 80, name: 'a' },
        { port: 80, name: 'b' },
      ],
    },
  };
  const once = { metadata: {}, spec: { ports: [{ port: 80, name: 'c' }] } };
  const step = 'k:{"port":80,"protocol":"TCP"}';
  assert.deepEqual(toFieldSet(twice, service).encode()['f:spec'], { 'f:ports': { [step]: {} } });
  const { changed, removed } = compare(twice, once, service);
  assert.deepEqual(removed.encode(), { 'f:spec': { 'f:ports': { [step]: {} } } });
  assert.deepEqual(changed.encode(), { 'f:spec': { 'f:ports': { [step]: { '.': {}, 'f:name': {}, 'f:port': {} } } } });
  assert.deepEqual((merge(twice, once, service) as Shape).spec, once.spec);
});

test('the replica count changes hands through scale', () => {
  const paths = { 'apps/v1': ['f:spec', 'f:replicas'] };
  const entry = (manager: string, apiVersion: string, fieldsV1: object, subresource?: string): ManagedFieldsEntry => ({
    manager,
    operation: 'Apply',
    apiVersion,
    fieldsType: 'FieldsV1',
    fieldsV1: fieldsV1 as Record<string, unknown>,
    ...(subresource === undefined ? {} : { subresource }),
  });
  const replicas = { 'f:spec': { 'f:replicas': {} } };
  const parent = [entry('m', 'apps/v1', { 'f:spec': { 'f:paused': {}, 'f:replicas': {} } })];
  assert.deepEqual(toScaleManagedFields(parent, paths), [entry('m', 'autoscaling/v1', replicas)]);
  const scale = [entry('hpa', 'autoscaling/v1', replicas, 'scale')];
  assert.deepEqual(fromScaleManagedFields(parent, scale, 'apps/v1', paths), [
    entry('hpa', 'apps/v1', replicas, 'scale'),
    entry('m', 'apps/v1', { 'f:spec': { 'f:paused': {} } }),
  ]);
});

test('a scale that stays as it was leaves appliers alone, and moves the count from updaters to themselves', () => {
  const paths = { 'apps/v1': ['f:spec', 'f:replicas'] };
  const owned = { fieldsType: 'FieldsV1', fieldsV1: { 'f:spec': { 'f:paused': {}, 'f:replicas': {} } } };
  const of = (operation: 'Apply' | 'Update'): ManagedFieldsEntry[] => [
    { manager: 'm', operation, apiVersion: 'apps/v1', time: '2026-01-02T03:04:05Z', ...owned },
  ];
  const scaled = (parent: ManagedFieldsEntry[]) =>
    fromScaleManagedFields(parent, toScaleManagedFields(parent, paths), 'apps/v1', paths);
  assert.deepEqual(scaled(of('Apply')), of('Apply'));
  const [adopted, left] = scaled(of('Update')) ?? [];
  assert.deepEqual([adopted?.time, adopted?.fieldsV1], [undefined, { 'f:spec': { 'f:replicas': {} } }]);
  assert.deepEqual([left?.time, left?.fieldsV1], ['2026-01-02T03:04:05Z', { 'f:spec': { 'f:paused': {} } }]);
});

test('of two entries of one manager the last counts, also for a write that changes nothing', () => {
  const owned = (since: string, fieldsV1: object): ManagedFieldsEntry => ({
    manager: 'm',
    operation: 'Update',
    apiVersion: 'v1',
    time: since,
    fieldsType: 'FieldsV1',
    fieldsV1: fieldsV1 as Record<string, unknown>,
  });
  const [first, last] = [
    owned('2026-01-01T00:00:00Z', { 'f:data': { 'f:a': {} } }),
    owned('2026-01-02T00:00:00Z', { 'f:data': { 'f:b': {} } }),
  ];
  const map = (managedFields: ManagedFieldsEntry[]) =>
    ({ metadata: { name: 'c', uid: 'u', managedFields }, data: { a: '1', b: '2' } }) as unknown as KubeObject;
  const after = update('m', map([first, last]), map([first, last])) as KubeObject;
  assert.deepEqual(after.metadata.managedFields, [last]);
});

test('manager names come from the user agent', () => {
  assert.equal(managerFromUserAgent('kubectl/v1.34.0 (linux/amd64)'), 'kubectl');
  assert.equal(managerFromUserAgent('a\u0007b'), 'ab');
  assert.equal(managerFromUserAgent('x'.repeat(200)).length, 128);
});

test('a write that changes only times is none', () => {
  const old = update('m', undefined, { metadata: { name: 'c' }, data: { a: '1' } }) as KubeObject;
  const later = structuredClone(old);
  for (const entry of later.metadata.managedFields ?? []) entry.time = '2022-01-01T00:00:00Z';
  runSync(keepUnchangedTimes(later, old));
  assert.deepEqual(later, old);
});

test('an object whose items cannot be distinguished refuses to be applied to', () => {
  const account = mustTypeOf('', 'ServiceAccount');
  const patch = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 's' } };
  const why =
    '.secrets: element 0: associative list with keys has an element that omits all key fields ["name"] (and doesn\'t have default values for any key fields)';
  const live = { ...patch, metadata: { name: 's', namespace: 'n' }, secrets: [{ kind: 'Secret' }] };
  const first = refusal(() => apply('m', live, patch, { type: account, kind: 'ServiceAccount' }));
  assert.equal(
    first.message,
    `failed to create manager for existing fields: failed to convert new object (n/s; /v1, Kind=ServiceAccount) to smd typed: ${why}`,
  );
  const fieldsV1 = { 'f:metadata': { 'f:labels': { 'f:a': {} } } };
  const managedFields = [{ manager: 'other', operation: 'Apply', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1 }];
  const tracked = { ...live, metadata: { ...live.metadata, managedFields } };
  const later = refusal(() => apply('m', tracked, patch, { type: account, kind: 'ServiceAccount' }));
  assert.equal(later.message, `failed to create typed live object (n/s; /v1, Kind=ServiceAccount): ${why}`);
});
