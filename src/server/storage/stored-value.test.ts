import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeCborTree } from '../../schema/cbor/encode.js';
import { isProtobuf } from '../../schema/protobuf/envelope.js';
import { embeddedForm, etcdForm, readStoredValue } from './stored-value.js';

const json = (object: object): Buffer => Buffer.from(JSON.stringify(object));

const POD = {
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { name: 'web', namespace: 'default', labels: { app: 'web' } },
  spec: { containers: [{ name: 'app', image: 'web:1', resources: {} }], restartPolicy: 'Always' },
  status: { phase: 'Running' },
};
const THING = { apiVersion: 'example.test/v1', kind: 'Thing', metadata: { name: 'x' }, spec: { size: 12345678901234 } };

test('a built-in object is protobuf in etcd, and the same JSON again in the embedded store', () => {
  const there = etcdForm(json(POD));
  assert.ok(isProtobuf(there));
  const back = JSON.parse(embeddedForm(there).toString()) as typeof POD;
  assert.deepEqual(back, JSON.parse(embeddedForm(json(POD)).toString()));
  assert.deepEqual(back.spec.containers, POD.spec.containers);
});

test('custom resources, definitions and API services are JSON in both, with a line break in etcd', () => {
  const definition = {
    kind: 'APIService',
    apiVersion: 'apiregistration.k8s.io/v1',
    metadata: { name: 'v1.' },
    spec: {},
  };
  for (const object of [THING, definition]) {
    const there = etcdForm(json(object)).toString();
    assert.ok(there.startsWith('{') && there.endsWith('}\n'), there);
    assert.doesNotMatch(embeddedForm(Buffer.from(there)).toString(), /\n/);
  }
  assert.deepEqual(JSON.parse(embeddedForm(encodeCborTree(THING)).toString()), THING);
});

test('a CRD is v1beta1 in etcd, as kube-apiserver keeps it, and v1 in the embedded store', () => {
  const names = { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' };
  const schema = { openAPIV3Schema: { type: 'object' } };
  const definition = {
    kind: 'CustomResourceDefinition',
    apiVersion: 'apiextensions.k8s.io/v1',
    metadata: { name: 'things.example.test' },
    spec: {
      group: 'example.test',
      names,
      scope: 'Namespaced',
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
    status: { conditions: [], acceptedNames: names, storedVersions: ['v1'] },
  };
  const there = etcdForm(json(definition)).toString();
  const stored = JSON.parse(there) as { apiVersion: string; spec: object };
  assert.equal(stored.apiVersion, 'apiextensions.k8s.io/v1beta1');
  assert.deepEqual((stored.spec as { validation: object }).validation, schema);
  const back = JSON.parse(embeddedForm(Buffer.from(there)).toString()) as typeof definition;
  assert.equal(back.apiVersion, definition.apiVersion);
  assert.deepEqual(back.spec.versions, definition.spec.versions);
});

test('what is encrypted stays as it is', () => {
  const value = Buffer.from('k8s:enc:aescbc:v1:key1:\0\x01\x02', 'latin1');
  assert.equal(readStoredValue(value), undefined);
  assert.equal(etcdForm(value), value);
  assert.equal(embeddedForm(value), value);
});

test('what is no object is refused', () => {
  for (const value of [
    Buffer.from('{"kind":"Pod"}'),
    Buffer.from('{"kind":'),
    Buffer.from('k8s\0\x0a\x02\x0a\x00'),
    Buffer.alloc(0),
  ]) {
    assert.throws(() => etcdForm(value), { name: /Error/ }, value.toString());
  }
  assert.throws(() => embeddedForm(json({ ...POD, spec: 7 })), /cannot unmarshal/);
});
