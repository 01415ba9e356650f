import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonSchema } from './json-schema.js';
import { mergeSwagger, type OwnSwagger, type SwaggerAdditions } from './merge-swagger.js';
import { readSwagger, type Swagger } from './swagger.js';

const KINDS = 'x-kubernetes-group-version-kind';
const to = (name: string): JsonSchema => ({ $ref: `#/definitions/${name}` });
const get = (name: string): JsonSchema => ({ get: { responses: { 200: { schema: to(name) } } } });
const kind = (group: string): JsonSchema => ({ group, version: 'v1', kind: 'Options' });

const document = (members: object): Promise<Swagger> => readSwagger(Buffer.from(JSON.stringify(members)));

function own(members: { readonly [list: string]: Readonly<Record<string, JsonSchema>> }): OwnSwagger {
  return {
    hasPath: (path) => members.paths?.[path] !== undefined,
    definition: (name) => members.definitions?.[name],
    parameter: (name) => members.parameters?.[name],
  };
}

async function merged(mine: OwnSwagger, ...others: object[]): Promise<Record<keyof SwaggerAdditions, object>> {
  const { paths, definitions, parameters } = await mergeSwagger(mine, await Promise.all(others.map(document)));
  return {
    paths: Object.fromEntries(paths),
    definitions: Object.fromEntries(definitions),
    parameters: Object.fromEntries(parameters),
  };
}

test('a name that means something else is renamed wherever it is used', async () => {
  const mine = own({ definitions: { Crate: { type: 'string' }, Crate_v2: { type: 'integer' } } });
  const crate = { type: 'object', properties: { inner: to('Crate'), lid: to('Lid') } };
  const one = { paths: { '/a': get('Crate') }, definitions: { Crate: crate, Lid: { type: 'string' } } };
  const two = { paths: { '/b': get('Crate') }, definitions: { Crate: crate, Lid: { type: 'boolean' } } };
  assert.deepEqual(await merged(mine, one, two), {
    paths: { '/a': get('Crate_v3'), '/b': get('Crate_v4') },
    definitions: {
      Crate_v3: { type: 'object', properties: { inner: to('Crate_v3'), lid: to('Lid') } },
      Lid: { type: 'string' },
      Crate_v4: { type: 'object', properties: { inner: to('Crate_v4'), lid: to('Lid_v2') } },
      Lid_v2: { type: 'boolean' },
    },
    parameters: {},
  });
});

test('what is the same but for its kinds stands once, with the kinds of both; built-in types in whoever’s words', async () => {
  const mine = own({
    definitions: {
      Options: { description: 'ours', properties: { description: { type: 'string' } }, [KINDS]: [kind('b')] },
    },
  });
  const theirs = {
    description: 'theirs',
    properties: { description: { type: 'string' } },
    [KINDS]: [kind('b'), kind('a')],
  };
  assert.deepEqual(
    (await merged(mine, { paths: { '/a': get('Options') }, definitions: { Options: theirs } })).definitions,
    {
      Options: {
        description: 'ours',
        properties: { description: { type: 'string' } },
        [KINDS]: [kind('a'), kind('b')],
      },
    },
  );
  const [one, two] = ['one', 'two'].map((description, i) => ({
    paths: { [`/${i}`]: get('Crate') },
    definitions: { Crate: { description } },
  }));
  assert.deepEqual((await merged(own({}), one ?? {}, two ?? {})).definitions, {
    Crate: { description: 'one' },
    Crate_v2: { description: 'two' },
  });
});

test('a path that is there stays as it is, and what only it needs does not come', async () => {
  const mine = own({ paths: { '/a': {} } });
  const both = {
    paths: { '/a': get('A'), '/b': get('B') },
    definitions: { A: {}, B: { items: to('C') }, C: {}, D: {} },
  };
  const result = await merged(mine, both);
  assert.deepEqual(Object.keys(result.paths), ['/b']);
  assert.deepEqual(Object.keys(result.definitions), ['B', 'C', 'D']);
  assert.deepEqual(await merged(mine, { paths: { '/a': get('A') }, definitions: { A: {}, D: {} } }), {
    paths: {},
    definitions: {},
    parameters: {},
  });
});

test('parameters are renamed, too', async () => {
  const mine = own({ parameters: { pretty: { name: 'pretty', in: 'query', type: 'string' } } });
  const theirs = { name: 'pretty', in: 'query', type: 'boolean' };
  const item = (name: string) => ({ get: { parameters: [{ $ref: `#/parameters/${name}` }] } });
  assert.deepEqual(await merged(mine, { paths: { '/a': item('pretty') }, parameters: { pretty: theirs } }), {
    paths: { '/a': item('pretty_v2') },
    definitions: {},
    parameters: { pretty_v2: theirs },
  });
});

test('names that objects have by themselves are names like any other', async () => {
  const text = '{"paths":{"__proto__":{"get":{}}},"definitions":{"constructor":{"__proto__":{"type":"string"}}}}';
  const { paths, definitions } = await mergeSwagger(own({}), [await readSwagger(Buffer.from(text))]);
  assert.deepEqual([...paths.keys(), ...definitions.keys()], ['__proto__', 'constructor']);
});
