import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { test } from 'node:test';
import protobuf from 'protobufjs';
import { appsKinds } from '../../apis/apps/index.js';
import type { HttpRequest, HttpResponse } from '../../lib/http/http.js';
import type { KindDefinition, Subresource } from '../../registry/kind.js';
import type { ResourceRegistry } from '../../registry/registry.js';
import { typeOf } from '../../schema/catalogue.js';
import type { StructType } from '../../schema/type.js';
import { createEndpoint, type Endpoint } from '../contract/endpoint.js';
import { MEDIA_TYPES } from '../wire/media-types.js';
import { createOpenApi } from './openapi.js';
import { nonResourceRoutes } from './non-resource-routes.js';

const NOW = new Date('2026-01-02T03:04:05Z');

test('the index names each document with the hash of its bytes', async () => {
  const { get } = server(appsEndpoints());
  const { paths } = jsonOf(await get('/openapi/v3')) as { paths: Record<string, { serverRelativeURL: string }> };
  assert.deepEqual(Object.keys(paths), ['api', 'apis', 'apis/apps', 'apis/apps/v1', 'version']);
  const body = bytesOf(await get('/openapi/v3/apis/apps/v1'));
  const hash = crypto.createHash('sha512').update(body).digest('hex').toUpperCase();
  assert.equal(paths['apis/apps/v1']?.serverRelativeURL, `/openapi/v3/apis/apps/v1?hash=${hash}`);
});

test('a right hash may be kept for ever, a wrong one is sent on, a known tag needs no body', async () => {
  const { get } = server(appsEndpoints());
  const tag = String((await get('/openapi/v3/apis/apps/v1')).headers['etag']);
  const hash = tag.slice(1, -1);
  const right = await get('/openapi/v3/apis/apps/v1', {}, `hash=${hash}`);
  assert.equal(right.headers['cache-control'], 'public, immutable');
  assert.equal(right.headers['expires'], 'Sat, 02 Jan 2027 03:04:05 UTC');
  const wrong = await get('/openapi/v3/apis/apps/v1', {}, 'hash=AB');
  assert.equal(wrong.status, 301);
  assert.equal(wrong.headers['location'], `/openapi/v3/apis/apps/v1?hash=${hash}`);
  assert.equal((await get('/openapi/v3/apis/apps/v1', { 'if-none-match': tag })).status, 304);
  assert.equal((await get('/openapi/v2', { 'if-none-match': '"other"' })).status, 200);
});

test('what is not there is 404, what cannot be served 406, and other paths are left to others', async () => {
  const { handle, get } = server(appsEndpoints());
  assert.equal((await get('/openapi/v3/apis/apps/v9')).status, 404);
  assert.equal((await get('/openapi/v3/apis/apps/v1', { accept: 'text/html' })).status, 406);
  assert.equal((await get('/openapi/v2', { accept: 'text/html' })).status, 406);
  assert.equal(handle(request('/openapi/v4'), '/openapi/v4'), undefined);
  assert.equal(handle(request('/apis'), '/apis'), undefined);
});

test('either name of the protobuf form is understood and the valid one is answered', async () => {
  const { get } = server(appsEndpoints());
  for (const sign of ['@', '.']) {
    const { headers } = await get('/openapi/v2', {
      accept: `application/com.github.proto-openapi.spec.v2${sign}v1.0+protobuf`,
    });
    assert.equal(headers['content-type'], 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf');
  }
});

test('the protobuf form of a document says what its JSON says', async () => {
  const { get } = server(appsEndpoints());
  const accept = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
  const document = V2_MESSAGES.decode(bytesOf(await get('/openapi/v2', { accept }))) as unknown as V2Document;
  const json = jsonOf(await get('/openapi/v2')) as { definitions: Record<string, { description?: string }> };
  const named = document.definitions.entries;
  assert.deepEqual(
    named.map(({ name }) => name),
    Object.keys(json.definitions),
  );
  const deployment = named.find(({ name }) => name === 'io.k8s.api.apps.v1.Deployment')?.value;
  assert.equal(deployment?.description, json.definitions['io.k8s.api.apps.v1.Deployment']?.description);
  assert.deepEqual(deployment?.type.value, ['object']);
  assert.equal(deployment?.extensions[0]?.name, 'x-kubernetes-group-version-kind');
  assert.match(deployment?.extensions[0]?.value.yaml ?? '', /kind: Deployment/);
});

test('a schema has types, defaults, required members, list types and kinds', async () => {
  const { get } = server(appsEndpoints());
  const { components } = jsonOf(await get('/openapi/v3/apis/apps/v1')) as {
    components: { schemas: Record<string, Schema> };
  };
  const spec = components.schemas['io.k8s.api.apps.v1.DeploymentSpec'];
  assert.deepEqual(spec?.required, ['selector', 'template']);
  assert.deepEqual(withoutDescription(spec?.properties?.['strategy']), {
    allOf: [{ $ref: '#/components/schemas/io.k8s.api.apps.v1.DeploymentStrategy' }],
    default: {},
    'x-kubernetes-patch-strategy': 'retainKeys',
  });
  const port = components.schemas['io.k8s.api.core.v1.ContainerPort'];
  assert.deepEqual(withoutDescription(port?.properties?.['protocol']), {
    default: 'TCP',
    enum: ['SCTP', 'TCP', 'UDP'],
    type: 'string',
  });
  assert.deepEqual(components.schemas['io.k8s.api.apps.v1.Deployment']?.['x-kubernetes-group-version-kind'], [
    { group: 'apps', version: 'v1', kind: 'Deployment' },
  ]);
});

test('form 2 has no defaults, and parameters that return are defined once', async () => {
  const { get } = server(appsEndpoints());
  const document = jsonOf(await get('/openapi/v2')) as {
    definitions: Record<string, Schema>;
    paths: Record<string, { parameters: { $ref?: string; name?: string }[] }>;
    parameters: Record<string, { name: string }>;
  };
  assert.equal(
    document.definitions['io.k8s.api.core.v1.ContainerPort']?.properties?.['protocol']?.['default'],
    undefined,
  );
  const [name, namespace, pretty] =
    document.paths['/apis/apps/v1/namespaces/{namespace}/deployments/{name}']?.parameters ?? [];
  assert.equal(name?.name, 'name');
  assert.equal(document.parameters[namespace?.$ref?.slice('#/parameters/'.length) ?? '']?.name, 'namespace');
  assert.equal(document.parameters[pretty?.$ref?.slice('#/parameters/'.length) ?? '']?.name, 'pretty');
});

test('a kind that comes or changes renews its own document only', async () => {
  const endpoints = appsEndpoints();
  const { get } = server(endpoints);
  const apps = String((await get('/openapi/v3/apis/apps/v1')).headers['etag']);
  endpoints.push(widget('A first form.'));
  const first = await get('/openapi/v3/apis/test.example/v1');
  assert.match(bytesOf(first).toString(), /A first form\./);
  assert.match(bytesOf(await get('/openapi/v2')).toString(), /A first form\./);
  endpoints[endpoints.length - 1] = widget('A second form.');
  assert.match(bytesOf(await get('/openapi/v3/apis/test.example/v1')).toString(), /A second form\./);
  assert.equal((await get('/openapi/v3/apis/apps/v1')).headers['etag'], apps);
  endpoints.pop();
  assert.equal((await get('/openapi/v3/apis/test.example/v1')).status, 404);
});

test('what OpenAPI 2 has of a kind that stays is encoded once, and a character beyond Latin-1 stays as it is', async () => {
  const staying = widget('');
  let calls = 0;
  Object.assign(staying.definition, {
    openApiSchema: (_form: string, name: string) => {
      if (name === staying.type.name) calls++;
      return { type: 'object', description: 'Fest …' };
    },
  });
  const endpoints = [staying];
  const { get } = server(endpoints);
  const alone = bytesOf(await get('/openapi/v2')).toString();
  assert.match(alone, /"Fest …"/);
  endpoints.push(...appsEndpoints());
  const whole = jsonOf(await get('/openapi/v2')) as Record<'definitions' | 'paths' | 'parameters', object>;
  assert.equal(calls, 1);
  const before = JSON.parse(alone) as typeof whole;
  for (const part of ['definitions', 'paths', 'parameters'] as const) {
    for (const [name, value] of Object.entries(before[part])) {
      assert.deepEqual((whole[part] as Record<string, unknown>)[name], value, name);
    }
    assert.deepEqual(Object.keys(whole[part]), Object.keys(whole[part]).sort());
  }
});

test('a custom kind is patched in the ways it can be, and has no paths of old', async () => {
  const { get } = server([widget('A form.')]);
  const { paths } = jsonOf(await get('/openapi/v3/apis/test.example/v1')) as {
    paths: Record<string, { patch?: { requestBody: { content: object } } }>;
  };
  assert.deepEqual(Object.keys(paths), ['/apis/test.example/v1/widgets', '/apis/test.example/v1/widgets/{name}']);
  assert.deepEqual(Object.keys(paths['/apis/test.example/v1/widgets/{name}']?.patch?.requestBody.content ?? {}), [
    'application/json-patch+json',
    'application/merge-patch+json',
    'application/apply-patch+yaml',
  ]);
});

test('operations of custom kinds and the document around them are those of the extension server of kube-apiserver', async () => {
  interface Operation {
    readonly parameters?: readonly { readonly name: string }[];
    readonly requestBody?: object;
    readonly responses: object;
    readonly 'x-kubernetes-group-version-kind': object;
  }
  const scale = { group: 'autoscaling', version: 'v1', kind: 'Scale', verbs: ['get'] } as const;
  const { get } = server([widget('A form.', { scale })]);
  const { info, components, paths } = jsonOf(await get('/openapi/v3/apis/test.example/v1')) as {
    info: object;
    components: { schemas: Record<string, Record<string, readonly { group: string }[]>> };
    paths: Record<string, Record<'get' | 'patch' | 'delete', Operation>>;
  };
  assert.deepEqual(info, { title: 'Kubernetes CRD Swagger', version: 'v0.1.0' });
  assert.deepEqual(Object.keys(components), ['schemas']);
  const options = components.schemas['io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions'];
  const groups = options?.['x-kubernetes-group-version-kind']?.map(({ group }) => group) ?? [];
  assert.deepEqual([groups.includes('apps'), groups.includes('apiextensions.k8s.io')], [true, false]);
  const collection = paths['/apis/test.example/v1/widgets'];
  const item = paths['/apis/test.example/v1/widgets/{name}'];
  const namesOf = (operation?: Operation): string[] => (operation?.parameters ?? []).map(({ name }) => name);
  assert.deepEqual(namesOf(item?.get), ['resourceVersion']);
  assert.deepEqual(Object.keys(item?.patch.responses ?? {}), ['200', '401']);
  assert.deepEqual(namesOf(collection?.delete), namesOf(collection?.get));
  assert.equal(collection?.delete.requestBody, undefined);
  const scaled = paths['/apis/test.example/v1/widgets/{name}/scale']?.get;
  assert.deepEqual(scaled?.['x-kubernetes-group-version-kind'], {
    group: 'test.example',
    version: 'v1',
    kind: 'Widget',
  });
});

interface Schema {
  readonly [word: string]: unknown;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
}

function withoutDescription(schema: Schema | undefined): object {
  const { description: _, ...rest } = schema ?? {};
  return rest;
}

function server(endpoints: Endpoint[]): {
  handle: ReturnType<typeof createOpenApi>['handle'];
  get: (path: string, headers?: Record<string, string>, search?: string) => Promise<HttpResponse>;
} {
  const { handle } = createOpenApi({
    endpoints: () => [...endpoints],
    mediaTypes: MEDIA_TYPES,
    version: '1.34',
    enums: true,
    beside: nonResourceRoutes({ issuer: false, logs: false }),
    now: () => NOW,
  });
  const get = async (path: string, headers: Record<string, string> = {}, search = ''): Promise<HttpResponse> => {
    const answer = await handle(request(path, headers, search), path);
    assert.ok(answer !== undefined, path);
    return answer;
  };
  return { handle, get };
}

function request(path: string, headers: Record<string, string> = {}, search = ''): HttpRequest {
  return {
    method: 'GET',
    path,
    query: new URLSearchParams(search),
    search,
    headers,
    httpVersion: '2.0',
    remoteAddress: '127.0.0.1',
    host: 'localhost',
    clientCertificates: [],
    body: () => Promise.resolve(Buffer.alloc(0)),
    bodyStream: () => undefined,
    signal: new AbortController().signal,
  };
}

function bytesOf({ body }: HttpResponse): Buffer {
  if (typeof body === 'string') return Buffer.from(body);
  assert.ok(Buffer.isBuffer(body));
  return body;
}

const jsonOf = (response: HttpResponse): unknown => JSON.parse(bytesOf(response).toString());

/** Documents read nothing of a registry but its kind. */
const endpointOf = (kind: KindDefinition, types: { type: StructType; listType: StructType }): Endpoint[] =>
  kind.versions.map((version) => createEndpoint({ kind } as unknown as ResourceRegistry, version, types));

const appsEndpoints = (): Endpoint[] =>
  appsKinds.flatMap((kind) => {
    const type = typeOf('apps', 'v1', kind.kind);
    const listType = typeOf('apps', 'v1', `${kind.kind}List`);
    assert.ok(type !== undefined && listType !== undefined);
    return endpointOf(kind, { type, listType });
  });

function widget(description: string, subresources: Record<string, Subresource> = {}): Endpoint {
  const named = (name: string): StructType => ({ kind: 'struct', name, fields: [], byJson: new Map() });
  const [endpoint] = endpointOf(
    {
      group: 'test.example',
      kind: 'Widget',
      plural: 'widgets',
      singular: 'widget',
      namespaced: false,
      custom: true,
      versions: [{ version: 'v1' }],
      storageVersion: 'v1',
      openApiSchema: () => ({ type: 'object', description }),
      strategy: { validate: () => [], validateUpdate: () => [] },
      subresources,
      table: { columns: [], row: () => [] },
    },
    { type: named('example.test.v1.Widget'), listType: named('example.test.v1.WidgetList') },
  );
  assert.ok(endpoint !== undefined);
  return endpoint;
}

/** As much of the agreed messages as the test looks at. */
interface V2Document {
  readonly definitions: { readonly entries: readonly { readonly name: string; readonly value: V2Schema }[] };
}
interface V2Schema {
  readonly description: string;
  readonly type: { readonly value: readonly string[] };
  readonly extensions: readonly { readonly name: string; readonly value: { readonly yaml: string } }[];
}
const V2_MESSAGES = protobuf
  .parse(
    `syntax = "proto3";
    message Document { Definitions definitions = 9; }
    message Definitions { repeated NamedSchema entries = 1; }
    message NamedSchema { string name = 1; Schema value = 2; }
    message Schema { string description = 4; TypeItem type = 22; repeated NamedAny extensions = 31; }
    message TypeItem { repeated string value = 1; }
    message NamedAny { string name = 1; Any value = 2; }
    message Any { string yaml = 2; }`,
  )
  .root.lookupType('Document');

test('the document of form 2 is made cooperatively', async (context) => {
  const { get } = server(appsEndpoints());
  // On any machine the slices are used up as fast: each look at the clock is a millisecond later.
  let nowMs = performance.now();
  context.mock.method(performance, 'now', () => nowMs++);
  let yields = 0;
  const others = setInterval(() => yields++, 0);
  assert.equal((await get('/openapi/v2')).status, 200);
  clearInterval(others);
  assert.ok(yields > 1, `${yields}`);
});
