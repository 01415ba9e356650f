// What was authorized is what happens: every method on every shape of path and query, for users who may do one thing.
import { silentLogs } from '../../lib/testing/test-log.js';
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { apiextensionsKinds } from '../../apis/apiextensions/index.js';
import { deployments } from '../../apis/apps/deployment/definition.js';
import { serveCrds } from '../testing/serve-crds.js';
import { buildChain } from '../../filters/chain.js';
import { InFlight, OpenWatches } from '../../filters/draining.js';
import { createRequestMetrics } from '../../filters/request-metrics.js';
import { testRequest } from '../../filters/testing.js';
import { type HttpRequest, type HttpResponse, isStream } from '../../lib/http/http.js';
import type { MaybePromise } from '../../lib/async/maybe-promise.js';
import { MetricRegistry } from '../../lib/telemetry/metrics.js';
import type { KindDefinition } from '../../registry/kind.js';
import { type Body, TestApi } from '../testing/test-api.js';

const VERBS = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'];
const GRANTS = [...VERBS, ...['get', 'update', 'patch'].flatMap((verb) => [`${verb}/status`, `${verb}/scale`])];
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'BREW'];
const ROOTS = ['/apis/apps/v1', '/apis/example.test/v1'];
/** Between the version and the namespace, and how the API itself may be written. */
const SHAPES: readonly ((root: string, rest: string) => string)[] = [
  (root, rest) => `${root}/${rest}`,
  (root, rest) => `${root}/watch/${rest}`,
  (root, rest) => `${root}/proxy/${rest}`,
  (root, rest) => `${root}/%77atch/${rest}`,
  (root, rest) => `${root}%2Fwatch%2f${rest}`,
  (root, rest) => `${root}/watch//${rest}`,
  (root, rest) => `${root}/watch/watch/${rest}`,
  (root, rest) => `/${root}/${rest}`,
  (root, rest) => `/${root}/watch/${rest}`,
  (root, rest) => `${root.replace('/apis/', '/%61pis/')}/${rest}`,
  (root, rest) => `${root.replace('/apis/', '/apis//')}/${rest}`,
];
const RESTS = [
  'namespaces/n/KIND',
  'namespaces/n/KIND/',
  'namespaces/n/KIND/a',
  'namespaces/n/KIND/a/status',
  'namespaces/n/KIND/a/scale',
  'namespaces/n/KIND//status',
  'namespaces/n/KIND/a/status/',
  'namespaces/n/%4BIND/a%2Fscale',
  'KIND',
  'KIND/a',
  'namespaces//KIND/a',
];
const QUERIES = [
  '',
  'watch=true',
  'wat%63h=true',
  'watch',
  'watch=0&watch=1',
  'watch=true;a=b',
  'a=b;c&%77atch=1',
  '?watch=true',
  'watch=%zz',
  'watch=f%61lse',
  'fieldSelector=metadata.name%3Da',
  'watch=1&fieldSelector=metadata.name%3Da',
];

let api: TestApi;
const stop = new AbortController();

before(async () => {
  api = new TestApi({ kinds: [...apiextensionsKinds(), deployments as unknown as KindDefinition] });
  await serveCrds(api, stop.signal);
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const watch = await api.watch(`${path}?watch=1`);
  assert.equal((await api.post(path, THINGS)).status, 201);
  while (!JSON.stringify((await watch.next()).object).includes('InitialNamesAccepted","message":"the initial'))
    continue;
  watch.stop();
  await restore();
});

after(() => {
  stop.abort();
  api.resources.close();
});

const COUNT = { type: 'object', properties: { replicas: { type: 'integer' } } };
const THINGS = {
  metadata: { name: 'things.example.test' },
  spec: {
    group: 'example.test',
    scope: 'Namespaced',
    names: { plural: 'things', kind: 'Thing' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec: COUNT, status: COUNT } } },
        subresources: {
          status: {},
          scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
        },
      },
    ],
  },
};

const kindOf = (target: string): string => (/^\/*[^/]*\/*apps/.test(target) ? 'Deployment' : 'Thing');
const pluralOf = (root: string): string => (root.includes('apps') ? 'deployments' : 'things');

function objectOf(kind: string, name: string, replicas: number, statusReplicas: number): object {
  const labels = { a: 'b' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  const spec = kind === 'Thing' ? {} : { selector: { matchLabels: labels }, template };
  const apiVersion = kind === 'Thing' ? 'example.test/v1' : 'apps/v1';
  return { apiVersion, kind, metadata: { name }, spec: { ...spec, replicas }, status: { replicas: statusReplicas } };
}

/** Each way of changing an object leaves a number of its own. */
const WRITTEN: Readonly<Record<string, string>> = {
  'spec 7': 'update',
  'spec 17': 'patch',
  'spec 27': 'update/scale',
  'spec 37': 'patch/scale',
  'status 9': 'update/status',
  'status 19': 'patch/status',
};

function bodyOf(method: string, target: string): object | undefined {
  const kind = kindOf(target);
  const scale = target.includes('scale');
  const head = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'a', namespace: 'n' } };
  if (method === 'POST') return objectOf(kind, 'new', 1, 0);
  if (method === 'PUT') return scale ? { ...head, spec: { replicas: 27 } } : objectOf(kind, 'a', 7, 9);
  if (method !== 'PATCH') return undefined;
  return scale ? { spec: { replicas: 37 } } : { spec: { replicas: 17 }, status: { replicas: 19 } };
}

async function restore(): Promise<void> {
  for (const root of ROOTS) {
    const all = `${root}/namespaces/n/${pluralOf(root)}`;
    await api.delete(all);
    for (const name of ['a', 'b']) {
      assert.equal((await api.post(all, objectOf(kindOf(root), name, 1, 0))).status, 201);
    }
  }
}

type Stored = ReadonlyMap<string, Body>;

async function stored(): Promise<Stored> {
  const found = new Map<string, Body>();
  for (const root of ROOTS) {
    for (const item of (await api.get(`${root}/${pluralOf(root)}`)).body.items) {
      found.set(`${root}/${item.metadata.name ?? ''}`, item);
    }
  }
  return found;
}

function changeBetween(old: Stored, now: Stored): string {
  const done = new Set<string>();
  if ([...now.keys()].some((key) => !old.has(key))) done.add('create');
  const gone = [...old.keys()].filter((key) => !now.has(key)).length;
  if (gone > 0) done.add(gone === 1 ? 'delete' : 'deletecollection');
  for (const [key, { spec, status }] of now) {
    const earlier = old.get(key);
    if (earlier === undefined || earlier.metadata.resourceVersion === now.get(key)?.metadata.resourceVersion) continue;
    const words = [
      `spec ${String(spec['replicas'])}`,
      `status ${String((status as { replicas?: number } | undefined)?.replicas)}`,
    ].flatMap((word) => WRITTEN[word] ?? []);
    done.add(words.length === 0 ? 'an unknown change' : words.join(' and '));
  }
  return [...done].join(' and ');
}

/** The content of a response that changed nothing. */
function readIn({ status, body }: HttpResponse): string {
  if (status >= 400) return '';
  if (isStream(body)) return 'watch';
  const text = Array.isArray(body) ? Buffer.concat(body as Buffer[]).toString() : String(body ?? '');
  const { kind } = JSON.parse(text) as Body;
  if (kind === 'Scale') return 'get/scale';
  return kind.endsWith('List') ? 'list' : 'get';
}

function serverFor(grant: string): (request: HttpRequest) => MaybePromise<HttpResponse> {
  const allows = (verb: string, subresource: string): boolean =>
    (subresource === '' ? verb : `${verb}/${subresource}`) === grant;
  return buildChain(
    {
      logs: silentLogs,
      metrics: createRequestMetrics(new MetricRegistry()),
      draining: { notAcceptingNewRequests: false, requests: new InFlight(), watches: new OpenWatches() },
      authenticator: { authenticate: async () => ({ user: { name: 'someone', groups: [] } }) },
      authorizer: {
        authorize: ({ verb, subresource, resourceRequest }) => ({
          decision: resourceRequest && allows(verb, subresource) ? 'allow' : 'no-opinion',
          reason: '',
        }),
        rulesFor: () => ({ resourceRules: [], nonResourceRules: [], incomplete: false }),
      },
      requestTimeoutMs: 60_000,
      maxRequestsInFlight: 0,
      maxMutatingRequestsInFlight: 0,
      corsAllowedOrigins: [],
      hstsDirectives: [],
      goawayChance: 0,
      shutdownSendRetryAfter: false,
    },
    ({ request: http, info, user }) => {
      assert.ok(user);
      return api.router.handle({ http, info, user, warn: () => undefined, annotate: () => undefined });
    },
  );
}

function* targets(): Generator<string> {
  for (const root of ROOTS) {
    for (const shape of SHAPES) {
      for (const rest of RESTS) {
        const path = shape(root, rest.replace('KIND', pluralOf(root)).replace('%4BIND', encoded(pluralOf(root))));
        for (const query of QUERIES) yield query === '' ? path : `${path}?${query}`;
      }
    }
  }
}

const queryIndex = (target: string): number =>
  target.includes('?') ? QUERIES.indexOf(target.slice(target.indexOf('?') + 1)) : 0;

/** Every form of the query where it could make a list a watch; the first few elsewhere. */
function queriesFor(method: string, target: string): number {
  if (METHODS.indexOf(method) > METHODS.indexOf('DELETE')) return 1;
  return method === 'GET' && !/status|scale/.test(target) ? QUERIES.length : 2;
}

const encoded = (word: string): string => `%${word.charCodeAt(0).toString(16)}${word.slice(1)}`;

for (const grant of GRANTS) {
  test(`who may only ${grant} can do nothing else`, async () => {
    const server = serverFor(grant);
    const happened = new Set<string>();
    let old = await stored();
    let revision = await api.kv.revision();
    for (const target of targets()) {
      for (const method of METHODS) {
        const sent = bodyOf(method, target);
        if (queryIndex(target) >= queriesFor(method, target)) continue;
        const response = await server(
          testRequest(method, target, {
            headers: { 'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json' },
            body: () => Promise.resolve(Buffer.from(sent === undefined ? '' : JSON.stringify(sent))),
          }),
        );
        let done = readIn(response);
        if ((await api.kv.revision()) !== revision) {
          done = changeBetween(old, await stored());
          await restore();
          old = await stored();
          revision = await api.kv.revision();
        }
        if (done === '') continue;
        // The object that is read is the same whole one at its status.
        if (done === 'get' && grant === 'get/status') done = grant;
        assert.equal(done, grant, `${method} ${target} answered ${response.status}`);
        happened.add(done);
      }
    }
    assert.deepEqual([...happened], [grant], 'what is granted can be done');
  });
}
