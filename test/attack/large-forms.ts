// Large objects and long lists in every form they can be sent and requested.
import { typeOf } from '../../src/schema/catalogue.js';
import { encodeCbor, encodeCborTree } from '../../src/schema/cbor/encode.js';
import { decodeTree } from '../../src/schema/json/decode.js';
import { encodeProtobuf } from '../../src/schema/protobuf/envelope.js';
import { encodeYaml } from '../../src/schema/yaml/encode.js';
import type { Attack, AttackRequest } from './worst-bodies.js';

const CORE = '/api/v1/namespaces/default';
const CONFIG_MAPS = `${CORE}/configmaps`;
const MAX_LIST_LENGTH = 20_000;
/** Of what is stored: a config map's data, or a pod together with the names of its fields. */
const MAX_DATA_BYTES = 1_000_000;

type Encoding = 'json' | 'yaml' | 'protobuf' | 'cbor';

const NAMES: Readonly<Record<Encoding, string>> = {
  json: 'application/json',
  yaml: 'application/yaml',
  protobuf: 'application/vnd.kubernetes.protobuf',
  cbor: 'application/cbor',
};

/** What a client may accept. */
const ACCEPTED: Readonly<Record<string, string>> = {
  ...NAMES,
  table: 'application/json;as=Table;v=v1;g=meta.k8s.io',
  'table in protobuf': 'application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io',
  metadata: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json',
  metadataList: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json',
};
const OF_OBJECTS = ['json', 'yaml', 'protobuf', 'cbor', 'table', 'table in protobuf', 'metadata'];
const OF_LISTS = ['json', 'yaml', 'protobuf', 'cbor', 'table', 'table in protobuf', 'metadataList'];
const OF_WATCHES = ['json', 'protobuf', 'cbor', 'table', 'metadata'];

interface Sort {
  readonly name: string;
  readonly collection: string;
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  readonly object: (bytes: number) => Record<string, unknown>;
}

/** So many items that they encode to about this many bytes. */
function many<T>(bytes: number, item: (i: number) => T): T[] {
  const each = JSON.stringify(item(100_000)).length + 1;
  return Array.from({ length: Math.floor(bytes / each) }, (_, i) => item(i));
}

const manyKeys = (bytes: number, value: string): Record<string, string> =>
  Object.fromEntries(many(bytes, (i) => [`k${i}`, value] as const));

const CONFIG_MAP = { group: '', version: 'v1', kind: 'ConfigMap' };

const SORTS: readonly Sort[] = [
  {
    name: 'config map of short keys',
    collection: CONFIG_MAPS,
    kind: CONFIG_MAP,
    object: (n) => ({ data: manyKeys(n, '') }),
  },
  {
    name: 'config map of longer values',
    collection: CONFIG_MAPS,
    kind: CONFIG_MAP,
    object: (n) => ({ data: manyKeys(Math.min(n, MAX_DATA_BYTES), 'x'.repeat(60)) }),
  },
  {
    name: 'config map of one value',
    collection: CONFIG_MAPS,
    kind: CONFIG_MAP,
    object: (n) => ({ data: { a: 'a line of text\n'.repeat(Math.min(n, MAX_DATA_BYTES) / 17) } }),
  },
  {
    name: 'pod of many variables',
    collection: `${CORE}/pods`,
    kind: { group: '', version: 'v1', kind: 'Pod' },
    object: (n) => ({
      spec: {
        automountServiceAccountToken: false,
        containers: [
          { name: 'c', image: 'i', env: many(Math.min(n, MAX_DATA_BYTES), (i) => ({ name: `E${i}`, value: 'v' })) },
        ],
      },
    }),
  },
];

const CUSTOM: Sort = {
  name: 'custom resource',
  collection: '/apis/forms.example/v1/namespaces/default/forms',
  kind: { group: 'forms.example', version: 'v1', kind: 'Form' },
  object: (n) => ({ spec: { open: manyKeys(n, '') } }),
};

const DEFINITION = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'forms.forms.example' },
  spec: {
    group: 'forms.example',
    scope: 'Namespaced',
    names: { plural: 'forms', kind: 'Form' },
    versions: ['v1', 'v2'].map((name) => ({
      name,
      served: true,
      storage: name === 'v1',
      schema: {
        openAPIV3Schema: {
          type: 'object',
          properties: {
            spec: {
              type: 'object',
              properties: { open: { type: 'object', additionalProperties: { type: 'string' } } },
            },
          },
        },
      },
    })),
  },
};

const sent = (sort: Sort, encoding: Encoding, name: string, bytes: number): string | Buffer => {
  const { group, version, kind } = sort.kind;
  const apiVersion = group === '' ? version : `${group}/${version}`;
  const object = { apiVersion, kind, metadata: { name }, ...sort.object(bytes) };
  const type = typeOf(group, version, kind);
  switch (encoding) {
    case 'json':
      return JSON.stringify(object);
    case 'yaml':
      return encodeYaml(object);
    case 'protobuf':
      if (type === undefined) throw new Error(`${kind} has no protobuf form`);
      return encodeProtobuf(type, decodeTree(type, object, { strict: false }).object);
    case 'cbor':
      if (type === undefined) return encodeCborTree(object);
      return encodeCbor(type, decodeTree(type, object, { strict: false }).object);
  }
};

const accepting = (accepted: string): { readonly headers: Record<string, string> } => ({
  headers: { accept: ACCEPTED[accepted] ?? accepted },
});

function everyForm(sort: Sort, bytes: number): AttackRequest[] {
  const { collection } = sort;
  const custom = sort === CUSTOM;
  const remove = (name: string): AttackRequest => ({ method: 'DELETE', path: `${collection}/${name}` });
  const encodings: readonly Encoding[] = custom ? ['json', 'yaml', 'cbor'] : ['json', 'yaml', 'protobuf', 'cbor'];
  const path = `${collection}/json`;
  return [
    ...encodings.flatMap((encoding): AttackRequest[] => [
      {
        method: 'POST',
        path: collection,
        contentType: NAMES[encoding],
        // CBOR has no longer lists and maps than 1,024.
        body: sent(sort, encoding, encoding, encoding === 'cbor' ? Math.min(bytes, 20_000) : bytes),
      },
      ...(encoding === 'json' ? [] : [remove(encoding)]),
    ]),
    ...OF_OBJECTS.map((form): AttackRequest => ({ method: 'GET', path, ...accepting(form) })),
    { method: 'GET', path: `${path}?pretty=true` },
    { method: 'GET', path, headers: { 'accept-encoding': 'gzip' } },
    ...(custom ? [{ method: 'GET', path: path.replace('/v1/', '/v2/') }] : []),
    ...OF_LISTS.map((form): AttackRequest => ({ method: 'GET', path: collection, ...accepting(form) })),
    ...OF_WATCHES.map((form): AttackRequest => ({ method: 'WATCH', path: collection, ...accepting(form) })),
    remove('json'),
  ];
}

const small = { spec: { containers: [{ name: 'c', image: 'i', env: many(400, (i) => ({ name: `E${i}` })) }] } };

function longList(bytes: number): AttackRequest[] {
  const path = `${CORE}/podtemplates`;
  const count = Math.min(MAX_LIST_LENGTH, Math.floor(bytes / 150));
  const template = { metadata: { labels: { app: 'long' } }, ...small };
  const object = { apiVersion: 'v1', kind: 'PodTemplate', metadata: { name: 'long' }, template };
  const list = (form: string, query = ''): AttackRequest => ({
    method: 'GET',
    path: `${path}${query}`,
    ...accepting(form),
  });
  return [
    { method: `FILL ${count}`, path, body: JSON.stringify(object) },
    ...OF_LISTS.map((form) => list(form)),
    list('json', '?pretty=true'),
    list('json', '?labelSelector=app%3Dlong'),
    list('table', '?includeObject=Object'),
    { method: 'GET', path, headers: { 'accept-encoding': 'gzip' } },
    ...OF_WATCHES.map((form): AttackRequest => ({ method: 'WATCH', path, ...accepting(form) })),
    { method: 'WATCH', path: `${path}?resourceVersion=1`, ...accepting('json') },
    { method: 'DELETE', path },
  ];
}

const documents = (): AttackRequest[] => [
  { method: 'GET', path: '/openapi/v2' },
  {
    method: 'GET',
    path: '/openapi/v2',
    headers: { accept: 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf' },
  },
  { method: 'GET', path: '/openapi/v3' },
  { method: 'GET', path: '/openapi/v3/api/v1' },
  {
    method: 'GET',
    path: '/openapi/v3/api/v1',
    headers: { accept: 'application/com.github.proto-openapi.spec.v3@v1.0+protobuf' },
  },
  {
    method: 'GET',
    path: '/apis',
    headers: { accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList' },
  },
];

export const LARGE_FORMS: readonly Attack[] = [
  ...SORTS.map((sort) => ({
    name: `every form: ${sort.name}`,
    requests: (bytes: number) => everyForm(sort, bytes),
  })),
  {
    name: 'every form: custom resource',
    requests: (bytes) => [
      {
        method: 'POST',
        path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
        body: JSON.stringify(DEFINITION),
      },
      { method: 'WAIT', path: CUSTOM.collection },
      ...everyForm(CUSTOM, bytes),
      ...documents(),
      { method: 'DELETE', path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/forms.forms.example' },
    ],
  },
  { name: 'every form: a long list', requests: longList },
];
