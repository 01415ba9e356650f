import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JsonTextError } from './json-cursor.js';
import { encodeDocumentV2 } from './protobuf-v2.js';
import { partOf, readSwagger } from './swagger.js';

const ref = (name: string) => ({ $ref: `#/definitions/${name}` });

test('a part has the paths below its prefix and what they need; what no path needs stays', async () => {
  const document = await readSwagger(
    Buffer.from(
      JSON.stringify({
        swagger: '2.0',
        info: { title: 't' },
        paths: {
          '/apis/g/v1/a': { get: { parameters: [{ $ref: '#/parameters/p' }] } },
          '/apis/g/v1': { get: { schema: ref('Index') } },
          '/apis/g/v10/b': { get: { schema: ref('B') } },
        },
        definitions: { A: { items: ref('Deep') }, Deep: {}, B: { items: ref('Deep') }, Index: {}, Unused: {} },
        parameters: { p: { schema: ref('A') } },
      }),
    ),
  );
  const part = await partOf(document, '/apis/g/v1/');
  assert.deepEqual([...part.paths.keys()], ['/apis/g/v1/a']);
  assert.deepEqual([...part.definitions.keys()], ['A', 'Deep', 'Unused']);
  assert.deepEqual(part.rest.get('info'), { title: 't' });
});

test('what is no document is refused; lists may be absent', async () => {
  for (const text of ['', '<html>', '[]', 'null', '{"paths":[]}', '{"definitions":{"A":1}}', '{"paths":{"/a":null}}'])
    await assert.rejects(readSwagger(Buffer.from(text)), JsonTextError, text);
  const { paths, definitions } = await readSwagger(Buffer.from('{"paths":null,"definitions":{"x-vendor":1}}'));
  assert.equal(paths.size + definitions.size, 0);
});

test('a document with members of another type is none: clients could read nothing that it is merged into', async () => {
  const read = (document: object): Promise<unknown> => readSwagger(Buffer.from(JSON.stringify(document)));
  const nested = (schema: object): object => ({
    properties: { a: { items: { allOf: [{ additionalProperties: schema }] } } },
  });
  for (const schema of [
    { type: 5 },
    { type: ['string', 5] },
    { description: {} },
    { required: 'a' },
    { properties: [] },
    { properties: { a: 'string' } },
    { additionalProperties: 'yes' },
    { maximum: '5' },
    { maxLength: 1.5 },
    { enum: 'a' },
    { $ref: 5 },
    { readOnly: 'true' },
  ]) {
    const about = JSON.stringify(schema);
    await assert.rejects(read({ definitions: { A: schema } }), JsonTextError, about);
    await assert.rejects(read({ definitions: { A: nested(schema) } }), JsonTextError, about);
    const responses = { 200: { description: 'OK', schema } };
    await assert.rejects(read({ paths: { '/a': { get: { responses } } } }), JsonTextError, about);
    await assert.rejects(read({ parameters: { a: { in: 'body', name: 'b', schema } } }), JsonTextError, about);
  }
  await assert.rejects(read({ info: { title: 5 } }), JsonTextError);
  await assert.rejects(read({ paths: { '/a': { get: { parameters: [{ name: 5 }] } } } }), JsonTextError);
  const fine = {
    type: ['string', 'null'],
    nullable: null,
    enum: [1, 'a', null],
    default: {},
    items: 5,
    'x-kubernetes-anything': 5,
    unknown: 5,
  };
  await read({ swagger: '2.0', definitions: { A: nested(fine), constructor: {} }, security: [{ a: ['b'] }], 'x-a': 1 });
  await read({ paths: { '/a': { get: { responses: { default: { description: 'd' }, 'x-y': 5, other: 5 } } } } });
});

test('a large document is read cooperatively', async () => {
  const text = JSON.stringify({
    definitions: Object.fromEntries(
      Array.from({ length: 40_000 }, (_, i) => [`D${i}`, { description: 'x'.repeat(200) }]),
    ),
  });
  let yields = 0;
  const timer = setInterval(() => yields++, 1);
  const { definitions } = await readSwagger(Buffer.from(text));
  clearInterval(timer);
  assert.equal(definitions.size, 40_000);
  assert.ok(yields > 0, 'the event loop was blocked');
});

test('whatever a document says, its protobuf form can be made', () => {
  const odd: unknown[] = [
    null,
    1,
    'x',
    true,
    [],
    {},
    [null],
    [1, {}],
    { toString: 1 },
    [{ toString: 1, valueOf: 1 }],
    1.5,
    1e300,
  ];
  for (const value of odd) {
    const schema = {
      type: value,
      required: value,
      maxLength: value,
      items: value,
      properties: value,
      enum: value,
      default: value,
    };
    const operation = { tags: value, parameters: value, responses: value, produces: value };
    encodeDocumentV2({
      paths: { '/a': { get: operation, parameters: value }, '/b': value },
      definitions: { A: schema, B: value },
      parameters: { p: value },
    });
  }
});
