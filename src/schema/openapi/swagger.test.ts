import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JsonTextError } from '../../lib/json-cursor.js';
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

test('a large document is read in turns', async () => {
  const text = JSON.stringify({
    definitions: Object.fromEntries(
      Array.from({ length: 40_000 }, (_, i) => [`D${i}`, { description: 'x'.repeat(200) }]),
    ),
  });
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  const { definitions } = await readSwagger(Buffer.from(text));
  clearInterval(timer);
  assert.equal(definitions.size, 40_000);
  assert.ok(turns > 0, 'nobody else had a turn');
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
