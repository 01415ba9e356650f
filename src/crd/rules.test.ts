// Rules of custom resources over the whole API: checked when the CRD is written, held by every write.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { apiextensionsKinds } from '../apis/apiextensions/index.js';
import { kubernetesExpressions } from '../cel/environments/kubernetes-expressions.js';
import type { JSONSchemaProps } from '../schema/generated/apiextensions.v1.js';
import { type Answer, TestApi } from '../server/testing/test-api.js';
import { serveCrds } from '../server/testing/serve-crds.js';

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const THINGS = '/apis/example.test/v1/namespaces/default/things';

let api: TestApi;
let stop: AbortController;

beforeEach(async () => {
  const features = { enabled: () => false };
  const expressions = kubernetesExpressions({ compatibility: { major: 1, minor: 33 }, features });
  api = new TestApi({ kinds: apiextensionsKinds(expressions) });
  stop = new AbortController();
  await serveCrds(api, stop.signal, { expressions });
});

afterEach(() => {
  stop.abort();
  api.resources.close();
});

const SCHEMA: JSONSchemaProps = {
  type: 'object',
  'x-kubernetes-validations': [{ rule: `self.metadata.name.startsWith('a')`, message: 'name begins with a' }],
  properties: {
    spec: {
      type: 'object',
      properties: {
        lo: { type: 'integer' },
        hi: { type: 'integer', default: 9 },
        note: { type: 'string', maxLength: 10 },
      },
      'x-kubernetes-validations': [
        {
          rule: 'self.lo <= self.hi',
          messageExpression: `'%d is over %d'.format([self.lo, self.hi])`,
          fieldPath: '.lo',
        },
        { rule: '!has(oldSelf.note) || self.note == oldSelf.note', message: 'note is final' },
      ],
    },
    status: {
      type: 'object',
      properties: { ready: { type: 'integer' } },
      'x-kubernetes-validations': [{ rule: 'self.ready >= 0' }],
    },
  },
};

const definition = (schema: JSONSchemaProps): object => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'things.example.test' },
  spec: {
    group: 'example.test',
    scope: 'Namespaced',
    names: { plural: 'things', kind: 'Thing' },
    versions: [
      { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema }, subresources: { status: {} } },
    ],
  },
});

const define = (schema: JSONSchemaProps): Promise<Answer> =>
  api.send('POST', DEFINITIONS, { body: definition(schema) });

async function defined(schema: JSONSchemaProps): Promise<void> {
  const answer = await define(schema);
  assert.equal(answer.status, 201, answer.bytes.toString());
  const watch = await api.watch(`${DEFINITIONS}?watch=1`);
  for (;;) {
    const { object } = await watch.next();
    if (JSON.stringify(object).includes('"reason":"InitialNamesAccepted"')) break;
  }
  watch.stop();
}

const thing = (name: string, spec: object): object => ({
  apiVersion: 'example.test/v1',
  kind: 'Thing',
  metadata: { name },
  spec,
});
const messageOf = ({ body }: Answer): unknown => body['message'];
const merge = (path: string, body: object): Promise<Answer> =>
  api.send('PATCH', path, { body, headers: { 'content-type': 'application/merge-patch+json' } });

test('a write that breaks a rule is refused, on the object and on its status', async () => {
  await defined(SCHEMA);
  const refused = await api.send('POST', THINGS, { body: thing('b', { lo: 10 }) });
  assert.equal(refused.status, 422);
  assert.equal(
    messageOf(refused),
    'Thing.example.test "b" is invalid: [<nil>: Invalid value: "object": name begins with a, spec.lo: Invalid value: "object": 10 is over 9]',
  );
  assert.equal((await api.send('POST', THINGS, { body: thing('a', { lo: 1, note: 'x' }) })).status, 201);
  assert.equal(
    messageOf(await merge(`${THINGS}/a`, { spec: { note: 'y' } })),
    'Thing.example.test "a" is invalid: spec: Invalid value: "object": note is final',
  );
  assert.equal(
    messageOf(await merge(`${THINGS}/a/status`, { status: { ready: -1 } })),
    'Thing.example.test "a" is invalid: status: Invalid value: "object": failed rule: self.ready >= 0',
  );
  assert.equal((await merge(`${THINGS}/a/status`, { status: { ready: 1 } })).status, 200);
});

test('a patch leaves a resource what it says it is', async () => {
  await defined(SCHEMA);
  assert.equal((await api.send('POST', THINGS, { body: thing('a', { lo: 1 }) })).status, 201);
  assert.equal(
    messageOf(await merge(`${THINGS}/a`, { kind: 'Other' })),
    'Other.example.test "a" is invalid: kind: Invalid value: "Other": must be Thing',
  );
  assert.equal(
    messageOf(await merge(`${THINGS}/a`, { apiVersion: 'example.test/v9' })),
    'Thing.example.test "a" is invalid: apiVersion: Invalid value: "example.test/v9": must be example.test/v1',
  );
  assert.match(
    String(messageOf(await merge(`${THINGS}/a`, { kind: null }))),
    /": Object 'Kind' is missing in '\{"apiVersion"/,
  );
});

test('rules are left alone where the form is wrong already', async () => {
  await defined(SCHEMA);
  const refused = await api.send('POST', THINGS, { body: thing('b', { lo: 'x' }) });
  assert.match(
    String(messageOf(refused)),
    /<nil>: Invalid value: null: some validation rules were not checked because the object was invalid/,
  );
  assert.doesNotMatch(String(messageOf(refused)), /name begins/);
});

test('a CRD whose rules cannot be used is refused', async () => {
  const around = (spec: JSONSchemaProps): JSONSchemaProps => ({ type: 'object', properties: { spec } });
  const rule = (text: string): JSONSchemaProps => ({
    type: 'object',
    properties: { size: { type: 'integer' }, list: { type: 'array', items: { type: 'string' } } },
    'x-kubernetes-validations': [{ rule: text }],
  });
  const path = 'spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0]';
  const refusalOf = async (schema: JSONSchemaProps): Promise<string> => String(messageOf(await define(around(schema))));
  assert.match(await refusalOf(rule('self.size')), /rule: Invalid value: .*: cel expression must evaluate to a bool$/);
  assert.ok(
    (await refusalOf(rule('self.list.all(a, self.list.all(b, a == b))'))).includes(
      `${path}.rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x`,
    ),
  );
  const message = {
    ...rule('true'),
    'x-kubernetes-validations': [{ rule: 'true', messageExpression: '"n" + string(self.size)' }],
  };
  assert.ok(
    (await refusalOf(message)).includes(
      `${path}.messageExpression: Forbidden: estimated messageExpression cost exceeds budget by factor of more than 100x`,
    ),
  );
  const broken = { ...rule('self.size < 5'), default: { size: 9 } };
  assert.match(
    await refusalOf(broken),
    /properties\[spec\]\.default: Invalid value: "object": failed rule: self\.size < 5$/,
  );
});
