import assert from 'node:assert/strict';
import { test } from 'node:test';
import { convertSwagger } from './convert-swagger.js';
import { readSwagger } from './swagger.js';

test('a document of the older form says the same in the newer one', async () => {
  const older = {
    swagger: '2.0',
    info: { title: 'wares', version: 'v1' },
    paths: {
      '/apis/wares/v1/crates': {
        parameters: [{ $ref: '#/parameters/pretty' }],
        post: {
          operationId: 'createCrate',
          consumes: ['application/json'],
          produces: ['application/json', 'application/yaml'],
          schemes: ['https'],
          parameters: [
            { name: 'body', in: 'body', required: true, schema: { $ref: '#/definitions/Crate' } },
            { name: 'dryRun', in: 'query', type: 'string', uniqueItems: true },
          ],
          responses: {
            200: { description: 'OK', schema: { $ref: '#/definitions/Crate' } },
            401: { description: 'no' },
          },
        },
      },
    },
    definitions: {
      Crate: { properties: { lid: { description: 'its lid', $ref: '#/definitions/Lid' }, $ref: { type: 'string' } } },
      Lid: { type: 'string' },
    },
    parameters: { pretty: { name: 'pretty', in: 'query', type: 'boolean' } },
    securityDefinitions: { Token: { type: 'apiKey', name: 'authorization', in: 'header' } },
  };
  const crate = { schema: { $ref: '#/components/schemas/Crate' } };
  assert.deepEqual(JSON.parse(await convertSwagger(await readSwagger(Buffer.from(JSON.stringify(older))))), {
    openapi: '3.0.0',
    info: { title: 'wares', version: 'v1' },
    paths: {
      '/apis/wares/v1/crates': {
        parameters: [{ name: 'pretty', in: 'query', schema: { type: 'boolean' } }],
        post: {
          operationId: 'createCrate',
          parameters: [{ name: 'dryRun', in: 'query', schema: { type: 'string', uniqueItems: true } }],
          requestBody: { content: { 'application/json': crate } },
          responses: {
            200: { description: 'OK', content: { 'application/json': crate, 'application/yaml': crate } },
            401: { description: 'no' },
          },
        },
      },
    },
    components: {
      schemas: {
        Crate: {
          properties: {
            lid: { description: 'its lid', allOf: [{ $ref: '#/components/schemas/Lid' }] },
            $ref: { type: 'string' },
          },
        },
        Lid: { type: 'string' },
      },
      securitySchemes: { Token: { type: 'apiKey', name: 'authorization', in: 'header' } },
    },
  });
});

test('a document without definitions has no place for them', async () => {
  const older = Buffer.from('{"swagger":"2.0","paths":{}}');
  assert.deepEqual(JSON.parse(await convertSwagger(await readSwagger(older))), {
    openapi: '3.0.0',
    paths: {},
    components: {},
  });
});
