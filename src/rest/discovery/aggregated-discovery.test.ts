import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { test } from 'node:test';
import { deployments } from '../../apis/apps/deployment/definition.js';
import type { HttpRequest, HttpResponse } from '../../lib/http/http.js';
import type { KindDefinition, Verb } from '../../registry/kind.js';
import { TestApi } from '../../server/testing/test-api.js';
import { aggregatedGroup } from './aggregated-discovery.js';
import { createDiscovery, type Discovery, type DiscoveryOptions } from './discovery.js';
import { JSON_TYPE } from '../wire/media-types.js';

interface Group {
  readonly versions: readonly {
    readonly resources: readonly {
      readonly responseKind: object;
      readonly subresources: readonly { readonly subresource: string; readonly responseKind: object }[];
    }[];
  }[];
}

const acceptOf = (version: string): string =>
  `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`;

const discoveryOf = (
  endpoints: DiscoveryOptions['endpoints'],
  aggregatedVersions: DiscoveryOptions['aggregatedVersions'] = ['v2'],
  onAggregated: () => void = () => undefined,
): Discovery =>
  createDiscovery({ endpoints, mediaTypes: [JSON_TYPE], aggregatedVersions, serverAddress: '', onAggregated });

test('a built-in kind is listed without group and version where they are those it is listed under', () => {
  const definition = deployments as unknown as KindDefinition;
  const kindsOf = (kind: KindDefinition): object => {
    const endpoints = [...new TestApi({ kinds: [kind] }).resources.all()];
    const group = aggregatedGroup('apps', [['v1', endpoints]]) as Group;
    const resource = group.versions[0]?.resources[0];
    return [resource?.responseKind, ...(resource?.subresources ?? []).map(({ responseKind }) => responseKind)];
  };
  const scale = { group: 'autoscaling', version: 'v1', kind: 'Scale' };
  const unsaid = { group: '', version: '', kind: 'Deployment' };
  assert.deepEqual(kindsOf(definition), [unsaid, scale, unsaid]);
  const own = { group: 'apps', version: 'v1', kind: 'Deployment' };
  assert.deepEqual(kindsOf({ ...definition, custom: true }), [own, scale, own]);
});

test('the document is encoded once, and again when its content changes', () => {
  let verbs: readonly Verb[] = ['get', 'list'];
  const definition = { ...deployments, custom: true, shownVerbs: () => verbs } as unknown as KindDefinition;
  let endpoints = new TestApi({ kinds: [definition] }).resources.all();
  let times = 0;
  const discovery = discoveryOf(
    () => endpoints,
    ['v2'],
    () => times++,
  );
  const get = (headers: Record<string, string> = {}): HttpResponse => {
    const request = { method: 'GET', headers: { accept: acceptOf('v2'), ...headers } } as unknown as HttpRequest;
    return discovery.answer(request, '/apis') as HttpResponse;
  };
  const text = ({ body }: HttpResponse): string => (body as Buffer).toString();
  const first = get();
  assert.match(text(first), /"verbs":\["get","list"\]/);
  assert.equal(get().body, first.body);
  assert.equal(get({ 'if-none-match': String(first.headers['etag']) }).status, 304);
  endpoints = [...endpoints];
  assert.equal(get().body, first.body);
  verbs = ['get'];
  endpoints = [...endpoints];
  const second = get({ 'if-none-match': String(first.headers['etag']) });
  assert.match(text(second), /"verbs":\["get"\]/);
  assert.notEqual(second.headers['etag'], first.headers['etag']);
  assert.equal(times, 2);
});

test('every form has the tag of the list in v2 without kind and apiVersion', () => {
  const endpoints = new TestApi({ kinds: [deployments as unknown as KindDefinition] }).resources.all();
  const discovery = discoveryOf(() => endpoints, ['v2', 'v2beta1']);
  const get = (version: string): HttpResponse =>
    discovery.answer(
      { method: 'GET', headers: { accept: acceptOf(version) } } as unknown as HttpRequest,
      '/apis',
    ) as HttpResponse;
  const { body, headers } = get('v2');
  const { items } = JSON.parse((body as Buffer).toString()) as { items: readonly object[] };
  const hash = crypto
    .createHash('sha512')
    .update(JSON.stringify({ metadata: {}, items }))
    .digest('hex');
  assert.equal(headers['etag'], `"${hash.toUpperCase()}"`);
  assert.equal(get('v2beta1').headers['etag'], headers['etag']);
});

test('a group whose kinds stay is not encoded again when another changes', () => {
  let verbs: readonly Verb[] = ['get', 'list'];
  let reads = 0;
  const changing = { ...deployments, custom: true, shownVerbs: () => verbs } as unknown as KindDefinition;
  const staying = { ...deployments, custom: true, group: 'stays.example' } as unknown as KindDefinition;
  const counted = Object.defineProperty(staying, 'singular', {
    get: () => {
      reads++;
      return 'stays';
    },
  });
  let endpoints = new TestApi({ kinds: [changing, counted] }).resources.all();
  const discovery = discoveryOf(() => endpoints, ['v2', 'v2beta1']);
  const get = (version: string): { readonly items: readonly Group[] } => {
    const accept = acceptOf(version);
    const response = discovery.answer({ method: 'GET', headers: { accept } } as unknown as HttpRequest, '/apis');
    return JSON.parse(((response as HttpResponse).body as Buffer).toString()) as { items: Group[] };
  };
  const first = get('v2');
  const before = reads;
  verbs = ['get'];
  endpoints = [...endpoints];
  const second = get('v2');
  assert.equal(reads, before);
  assert.deepEqual(second.items[1], first.items[1]);
  assert.notDeepEqual(second.items[0], first.items[0]);
  assert.deepEqual(get('v2beta1').items, second.items);
});

test('what was prepared is the answer to the next request', () => {
  let reads = 0;
  const definition = { ...deployments, custom: true } as unknown as KindDefinition;
  const counted = Object.defineProperty(definition, 'singular', { get: () => `deployment${++reads}` });
  let endpoints = new TestApi({ kinds: [counted] }).resources.all();
  const discovery = discoveryOf(() => endpoints);
  const get = (): string => {
    const request = { method: 'GET', headers: { accept: acceptOf('v2') } } as unknown as HttpRequest;
    const { body } = discovery.answer(request, '/apis') as HttpResponse;
    return (body as Buffer).toString();
  };
  discovery.prepare();
  const before = reads;
  assert.match(get(), new RegExp(`"deployment${before}"`));
  assert.equal(reads, before);
  endpoints = [];
  assert.doesNotMatch(get(), /deployment/);
});
