// CRDs that together have everything that documents describe: scopes, versions, subresources, selectable
// fields, and every word that a schema may have.

export const GROUP = 'openapi.compare.example';

const WORDS = {
  type: 'object',
  description: 'What an object may say.',
  title: 'A title',
  required: ['spec'],
  externalDocs: { description: 'elsewhere', url: 'https://example.com' },
  example: { spec: { a: 1 } },
  properties: {
    metadata: { type: 'object', properties: { name: { type: 'string', maxLength: 10 } } },
    spec: {
      type: 'object',
      minProperties: 1,
      maxProperties: 30,
      properties: {
        text: {
          type: 'string',
          minLength: 1,
          maxLength: 9,
          pattern: '^a',
          format: 'hostname',
          example: 'a',
          default: 'a',
        },
        port: { 'x-kubernetes-int-or-string': true, description: 'one of two' },
        stated: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }], pattern: '^1' },
        both: {
          'x-kubernetes-int-or-string': true,
          allOf: [{ anyOf: [{ type: 'integer' }, { type: 'string' }] }, { pattern: '^1' }],
        },
        chosen: { 'x-kubernetes-int-or-string': true, anyOf: [{ pattern: '^1' }, { pattern: '^2' }] },
        count: {
          type: 'integer',
          format: 'int32',
          minimum: 0,
          maximum: 10,
          exclusiveMinimum: true,
          exclusiveMaximum: true,
          multipleOf: 2,
          default: 4,
        },
        share: { type: 'number', minimum: 0.25, maximum: 1e21, exclusiveMinimum: false, default: 0.5 },
        flag: { type: 'boolean', default: false },
        chosenText: { type: 'string', enum: ['a', 'b', ''], default: '' },
        chosenNull: { type: 'string', nullable: true, enum: ['a', null], default: null },
        nullable: { type: 'object', nullable: true, properties: { a: { type: 'string' } }, required: ['a'] },
        holds: {
          type: 'object',
          properties: { a: { type: 'string', nullable: true }, b: { type: 'string' } },
          required: ['a', 'b'],
        },
        holdsOne: { type: 'object', properties: { a: { type: 'string', nullable: true } }, required: ['a'] },
        open: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { a: { type: 'string' } } },
        anything: { 'x-kubernetes-preserve-unknown-fields': true },
        openList: { type: 'array', items: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        list: {
          type: 'array',
          minItems: 1,
          maxItems: 4,
          uniqueItems: false,
          'x-kubernetes-list-type': 'atomic',
          items: { type: 'string' },
          default: ['a'],
        },
        set: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
        keyed: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name', 'port'],
          items: {
            type: 'object',
            required: ['name', 'port'],
            properties: { name: { type: 'string' }, port: { type: 'integer' } },
          },
        },
        nullableList: { type: 'array', nullable: true, items: { type: 'string', nullable: true } },
        map: {
          type: 'object',
          additionalProperties: { type: 'string', maxLength: 3 },
          'x-kubernetes-map-type': 'granular',
        },
        mapOfNullables: { type: 'object', required: ['a'], additionalProperties: { type: 'string', nullable: true } },
        mapOfAll: { type: 'object', additionalProperties: true },
        atomic: { type: 'object', 'x-kubernetes-map-type': 'atomic', properties: { a: { type: 'string' } } },
        bare: { type: 'object', properties: {} },
        combined: {
          type: 'object',
          properties: {
            a: { type: 'string' },
            b: { type: 'array', items: { type: 'string' } },
            c: { type: 'integer' },
          },
          oneOf: [{ required: ['a'] }, { required: ['b'] }],
          allOf: [{ properties: { a: { minLength: 1 } } }, { properties: { b: { items: { maxLength: 3 } } } }],
          anyOf: [{ not: { required: ['c'] } }, { properties: { c: { minimum: 1, enum: [1, 2] } } }],
          not: { required: ['a', 'b'] },
        },
        resource: { type: 'object', 'x-kubernetes-embedded-resource': true, properties: { spec: { type: 'object' } } },
        openResource: {
          type: 'object',
          'x-kubernetes-embedded-resource': true,
          'x-kubernetes-preserve-unknown-fields': true,
        },
        kindedResource: {
          type: 'object',
          'x-kubernetes-embedded-resource': true,
          required: ['kind', 'spec'],
          properties: { kind: { type: 'string', enum: ['A'] }, metadata: { type: 'object' }, spec: { type: 'object' } },
        },
        resources: {
          type: 'array',
          items: { type: 'object', 'x-kubernetes-embedded-resource': true, properties: { a: { type: 'string' } } },
        },
        resourceMap: {
          type: 'object',
          additionalProperties: {
            type: 'object',
            'x-kubernetes-embedded-resource': true,
            properties: { a: { type: 'string' } },
          },
        },
        ruled: {
          type: 'object',
          properties: { a: { type: 'integer' } },
          'x-kubernetes-validations': [
            { rule: 'self.a > 1', message: 'too few', reason: 'FieldValueForbidden', fieldPath: '.a' },
            { rule: '!oldSelf.hasValue() || self.a < 100', messageExpression: '"many"', optionalOldSelf: true },
          ],
        },
      },
    },
    status: { type: 'object', properties: { replicas: { type: 'integer' }, selector: { type: 'string' } } },
  },
};

const SPEC = { type: 'object', properties: { replicas: { type: 'integer' }, colour: { type: 'string' } } };
const STATUS = { type: 'object', properties: { replicas: { type: 'integer' }, selector: { type: 'string' } } };
const SCALED = { type: 'object', properties: { spec: SPEC, status: STATUS } };
const SCALE = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' };

const version = (name, openAPIV3Schema, more = {}) => ({
  name,
  served: true,
  storage: false,
  schema: { openAPIV3Schema },
  ...more,
});

export const crds = [
  definition('Word', 'Namespaced', [version('v1', WORDS, { storage: true, subresources: { status: {} } })]),
  definition('Scaled', 'Namespaced', [
    version('v1', SCALED, { storage: true, subresources: { status: {}, scale: SCALE } }),
    version('v1beta1', SCALED, { subresources: { scale: { ...SCALE, labelSelectorPath: '.status.selector' } } }),
    version('v1alpha1', { type: 'object' }, { deprecated: true }),
    version('v0', SCALED, { served: false }),
  ]),
  definition('Everywhere', 'Cluster', [
    version('v1', SCALED, {
      storage: true,
      selectableFields: [{ jsonPath: '.spec.colour' }, { jsonPath: '.spec.replicas' }],
      subresources: { status: {}, scale: SCALE },
    }),
  ]),
  definition('Open', 'Cluster', [
    version('v2', { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }, { storage: true }),
  ]),
  definition(
    'Apple',
    'Namespaced',
    [version('v1', { type: 'object', properties: { spec: SPEC } }, { storage: true })],
    {
      group: 'other.example.com',
      names: { listKind: 'Orchard', plural: 'fruit', singular: 'apple' },
    },
  ),
];

function definition(kind, scope, versions, { group = GROUP, names = {} } = {}) {
  const plural = names.plural ?? `${kind.toLowerCase()}s`;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: { group, scope, names: { kind, plural, singular: kind.toLowerCase(), ...names }, versions },
  };
}
