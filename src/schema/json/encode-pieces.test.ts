import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runSync } from '../../lib/scheduling/yield.js';
import { typeOf } from '../catalogue.js';
import type { StructType } from '../type.js';
import { decodeTree } from './decode.js';
import { encodePieces } from './encode-pieces.js';
import { encodeJson, encodeStored } from './encode.js';

const MANY = 10_000;
const numbers = Array.from({ length: MANY }, (_, i) => i);
const map = (value: (i: number) => unknown): object => Object.fromEntries(numbers.map((i) => [`k${i}"<é`, value(i)]));

const OBJECTS: readonly (readonly [group: string, kind: string, version: string, object: object])[] = [
  ['', 'ConfigMap', 'v1', { metadata: { name: 'a', labels: {}, finalizers: [] }, data: map(String), binaryData: {} }],
  [
    '',
    'ConfigMap',
    'v1',
    {
      metadata: {
        managedFields: [
          { manager: 'm', fieldsType: 'FieldsV1', fieldsV1: { 'f:data': { '.': {}, ...map(() => ({})) } } },
        ],
      },
    },
  ],
  [
    '',
    'Pod',
    'v1',
    {
      metadata: { name: 'a', annotations: map(() => '') },
      spec: {
        nodeSelector: {},
        containers: numbers.map((i) => ({
          name: `c${i}`,
          env: [{ name: 'A' }],
          ports: [{ containerPort: i }],
          args: [],
        })),
        tolerations: numbers.map((i) => ({ key: `${i}`, tolerationSeconds: i % 2 === 0 ? null : i })),
      },
      status: { containerStatuses: numbers.map((i) => ({ name: `c${i}`, ready: i % 3 === 0 })) },
    },
  ],
  ['', 'Service', 'v1', { spec: { ports: numbers.map((i) => ({ port: i, targetPort: i % 2 === 0 ? i : 'a' })) } }],
  ['rbac.authorization.k8s.io', 'ClusterRole', 'v1', { rules: numbers.map(() => ({ verbs: ['get'] })) }],
  ['rbac.authorization.k8s.io', 'ClusterRole', 'v1', { rules: [] }],
  [
    'apiextensions.k8s.io',
    'CustomResourceDefinition',
    'v1',
    {
      spec: {
        versions: [
          {
            name: 'v1',
            schema: {
              openAPIV3Schema: {
                type: 'object',
                properties: map((i) => ({ type: 'string', default: [i, { b: null }], enum: [i] })),
              },
            },
          },
        ],
      },
    },
  ],
];

test('a large object is encoded in pieces as it is encoded at once', () => {
  for (const [group, kind, version, tree] of OBJECTS) {
    const type = typeOf(group, version, kind) as StructType;
    const { object } = decodeTree(type, { kind, apiVersion: version, ...tree }, { strict: false });
    assert.ok(runSync(encodePieces(type, object)).equals(Buffer.from(encodeStored(type, object))), kind);
    assert.ok(runSync(encodePieces(type, object, 'sent')).equals(Buffer.from(encodeJson(type, object))), kind);
  }
});

test('nothing long is encoded between two yields', () => {
  const type = typeOf('', 'v1', 'ConfigMap') as StructType;
  const steps = encodePieces(type, { metadata: {}, data: map(String) });
  let yields = 0;
  while (!steps.next().done) yields++;
  assert.ok(yields >= MANY / 4096, `${yields} yields`);
});

test('what has no type is encoded in the order of its names, what is opaque as it is', () => {
  const type = {
    ...(typeOf('', 'v1', 'ConfigMap') as StructType),
    unstructured: { coerce: () => [] },
  } as unknown as StructType;
  for (const tree of [{}, { b: 1, a: [], c: { z: {}, y: [{ x: null }, 'q', true, -0, 1.5] } }, map((i) => [{ i }])]) {
    assert.equal(runSync(encodePieces(type, tree)).toString(), encodeStored(type, tree));
  }
});
