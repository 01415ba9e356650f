import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { configMaps } from '../../apis/core/configmap/definition.js';
import { pods } from '../../apis/core/pod/definition.js';
import { deployments } from '../../apis/apps/deployment/definition.js';
import { parseRequestInfo } from '../../filters/request-info.js';
import { testRequest } from '../../filters/testing.js';
import type { HttpResponse } from '../../lib/http/http.js';
import type { KindDefinition } from '../../registry/kind.js';
import { TestApi } from '../../server/testing/test-api.js';
import type { RecordedSpan } from '../../tracing/recorded-span.js';
import { requestEntityTooLarge } from '../../machinery/status.js';
import { SCOPES } from '../../tracing/trace.js';
import { Tracer } from '../../tracing/tracer.js';

const MAPS = '/api/v1/namespaces/n/configmaps';
const kinds = [configMaps as unknown as KindDefinition];
const USER = { name: 'admin', groups: ['system:masters'] };

/** What a request leaves in its trace: names by depth, and each span by its name. */
async function traced(
  api: TestApi,
  request: `${string} ${string}`,
  body?: object,
  { contentType = 'application/json', accept = 'application/json' } = {},
) {
  const [method = '', target = ''] = request.split(' ');
  const spans: RecordedSpan[] = [];
  const tracer = new Tracer({ ratePerMillion: 0, onEnd: (span) => spans.push(span) });
  const root = tracer.root({ name: 'root', scope: SCOPES.http, kind: 'server', auditId: 'a-1', baggage: '' });
  const bytes = async (): Promise<Buffer> => {
    if (body instanceof Error) throw body;
    return Buffer.from(body === undefined ? '' : JSON.stringify(body));
  };
  const headers = { 'content-type': contentType, 'user-agent': 'test/1', accept };
  const http = testRequest(method, target, { headers, body: bytes });
  const info = parseRequestInfo(http);
  assert.ok(typeof info === 'object');
  const nothing = (): void => undefined;
  const parsed = { http, info, user: USER, warn: nothing, annotate: nothing, trace: root };
  const answer: HttpResponse = await api.router.handle(parsed);
  const below = (id: string, depth: number): string[] =>
    spans
      .filter(({ parentId }) => parentId === id)
      .flatMap((span) => [`${'  '.repeat(depth)}${span.birth.name}`, ...below(span.id, depth + 1)]);
  const named = (name: string): RecordedSpan | undefined => spans.find(({ birth }) => birth.name === name);
  const events = (name: string): string[] => named(name)?.events.map((event) => event.name) ?? [];
  const ended = new Set([root.id, ...spans.map(({ id }) => id)]);
  const orphans = spans.filter(({ parentId }) => !ended.has(parentId)).map(({ birth }) => birth.name);
  return { status: answer.status, tree: below(root.id, 0), named, events, orphans };
}

describe('a verb under a trace', () => {
  it('that creates records reading, storing and writing', async () => {
    const api = new TestApi({ kinds });
    const { status, tree, named, events } = await traced(api, `POST ${MAPS}`, { metadata: { name: 'a' } });
    assert.equal(status, 201);
    assert.deepEqual(tree, ['Create', '  Create etcd3', '  SerializeObject']);
    assert.deepEqual(events('Create'), [
      'limitedReadBody succeeded',
      'About to convert to expected version',
      'Conversion done',
      'About to store object in database',
      'Write to database call succeeded',
      'About to write a response',
      'Writing http response done',
    ]);
    assert.deepEqual(events('Create etcd3'), [
      'About to Encode',
      'Encode succeeded',
      'TransformToStorage succeeded',
      'Txn call succeeded',
      'decode succeeded',
    ]);
    assert.deepEqual(named('Create')?.attributes, {
      accept: 'application/json',
      'audit-id': 'a-1',
      client: '127.0.0.1',
      'api-group': '',
      'api-version': 'v1',
      name: '',
      subresource: '',
      namespace: 'n',
      protocol: 'HTTP/1.1',
      resource: 'configmaps',
      scope: 'resource',
      url: MAPS,
      'user-agent': 'test/1',
      verb: 'POST',
    });
    assert.equal(named('Create etcd3')?.attributes['key'], '/configmaps/n/a');
  });

  it('that is refused records so, and writes the refusal', async () => {
    const api = new TestApi({ kinds });
    await api.post(MAPS, { metadata: { name: 'a' } });
    const twice = await traced(api, `POST ${MAPS}`, { metadata: { name: 'a' } });
    assert.equal(twice.status, 409);
    assert.deepEqual(twice.tree, ['Create', '  Create etcd3', '  cacher.Get', '  SerializeObject']);
    assert.equal(twice.events('Create').at(-1), 'Write to database call failed');
    const large = await traced(api, `POST ${MAPS}`, requestEntityTooLarge('limit is 7'));
    assert.equal(large.status, 413);
    assert.deepEqual(
      large.named('Create')?.events.map(({ name, attributes }) => [name, attributes]),
      [['limitedReadBody failed', { len: 0, err: 'Request entity too large: limit is 7' }]],
    );
    const missing = await traced(api, `GET ${MAPS}/b`);
    assert.deepEqual(missing.tree, ['Get', '  cacher.Get', '  SerializeObject']);
    assert.deepEqual(missing.events('Get'), ['About to Get from storage']);
  });

  it('that changes, patches, lists and deletes records its store', async () => {
    const api = new TestApi({ kinds });
    await api.post(MAPS, { metadata: { name: 'a' } });
    const put = await traced(api, `PUT ${MAPS}/a`, { metadata: { name: 'a' }, data: { k: 'v' } });
    assert.equal(put.status, 200);
    assert.deepEqual(put.tree[0], 'Update');
    assert.deepEqual(put.events('GuaranteedUpdate etcd3'), [
      'initial value restored',
      'About to Encode',
      'Encode succeeded',
      'TransformToStorage succeeded',
      'Transaction prepared',
      'Txn call completed',
      'Transaction committed',
      'decode succeeded',
    ]);
    const patch = await traced(
      api,
      `PATCH ${MAPS}/a`,
      { data: { k: 'w' } },
      { contentType: 'application/merge-patch+json' },
    );
    assert.deepEqual(patch.events('Patch'), [
      'limitedReadBody succeeded',
      'Recorded the audit event',
      'About to apply patch',
      'About to check admission control',
      'Object stored in database',
      'About to write a response',
      'Writing http response done',
    ]);
    const list = await traced(api, `GET ${MAPS}?limit=5`);
    assert.deepEqual(list.tree, ['List', '  cacher.GetList', '  SerializeObject']);
    assert.equal(list.named('List')?.attributes['verb'], 'LIST');
    assert.equal(list.named('List')?.attributes['scope'], 'namespace');
    const gone = await traced(api, `DELETE ${MAPS}/a`);
    assert.deepEqual(gone.tree, ['Delete', '  cacher.Get', '  SerializeObject']);
    assert.deepEqual(gone.events('Delete').slice(1, 3), [
      'About to delete object from database',
      'Object deleted from database',
    ]);
  });

  it('that is nowhere has no span, but its refusal is written', async () => {
    const { status, tree } = await traced(new TestApi({ kinds }), 'GET /api/v1/namespaces/n/nothings/a');
    assert.equal(status, 404);
    assert.deepEqual(tree, ['SerializeObject']);
    const head = await traced(new TestApi({ kinds }), `HEAD ${MAPS}`);
    assert.deepEqual([head.status, head.tree], [405, ['SerializeObject']]);
  });

  it('that has no route has no span, and nothing records an answer that is no object', async () => {
    const api = new TestApi({ kinds });
    const patch = await traced(api, `PATCH ${MAPS}/a`, {}, { contentType: 'text/plain' });
    assert.deepEqual([patch.status, patch.tree], [415, ['SerializeObject']]);
    const page = await traced(api, `GET ${MAPS}/a`, undefined, { accept: 'text/html' });
    assert.deepEqual([page.status, page.tree], [406, []]);
  });

  it('that writes what is there already records that nothing changed, and reads nothing twice', async () => {
    const api = new TestApi({ kinds });
    const map = { metadata: { name: 'a' }, data: { k: 'v' } };
    await api.post(MAPS, map);
    const same = await traced(api, `PUT ${MAPS}/a`, map);
    assert.deepEqual(same.tree, ['Update', '  GuaranteedUpdate etcd3', '  SerializeObject']);
    assert.deepEqual(same.events('GuaranteedUpdate etcd3'), [
      'initial value restored',
      'About to Encode',
      'Encode succeeded',
    ]);
  });

  it('that is refused by the store records how far it came', async () => {
    const api = new TestApi({ kinds });
    await api.post(MAPS, { metadata: { name: 'a' } });
    const stale = await traced(api, `PUT ${MAPS}/a`, { metadata: { name: 'a', resourceVersion: '1' } });
    assert.equal(stale.status, 409);
    assert.deepEqual(stale.tree, ['Update', '  GuaranteedUpdate etcd3', '  SerializeObject']);
    assert.deepEqual(stale.events('GuaranteedUpdate etcd3'), ['initial value restored']);
    const missing = await traced(api, `PUT ${MAPS}/b`, { metadata: { name: 'b' } });
    assert.deepEqual(missing.events('GuaranteedUpdate etcd3'), []);
    const other = await traced(api, `PUT ${MAPS}/a`, { metadata: { name: 'b' } });
    assert.equal(other.events('Update').at(-1), 'Conversion done');
    const unread = await traced(api, `POST ${MAPS}`, {}, { contentType: 'text/plain' });
    assert.deepEqual([unread.status, unread.events('Create')], [415, []]);
    const broken = await traced(api, `PATCH ${MAPS}/a`, [{}], { contentType: 'application/json-patch+json' });
    assert.equal(broken.events('Patch').at(-1), 'About to apply patch');
  });

  it('that is a dry run reads, and writes nothing', async () => {
    const api = new TestApi({ kinds });
    await api.post(MAPS, { metadata: { name: 'a' } });
    const put = await traced(api, `PUT ${MAPS}/a?dryRun=All`, { metadata: { name: 'a' }, data: { k: 'v' } });
    assert.deepEqual(put.tree, ['Update', '  cacher.Get', '  SerializeObject']);
    assert.ok(!put.events('Update').includes('initial value restored'));
    const gone = await traced(api, `DELETE ${MAPS}/a?dryRun=All`);
    assert.deepEqual(gone.tree, ['Delete', '  cacher.Get', '  cacher.Get', '  SerializeObject']);
  });

  it('that applies what is missing makes it by an update', async () => {
    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };
    const type = 'application/apply-patch+yaml';
    const made = await traced(new TestApi({ kinds }), `PATCH ${MAPS}/a?fieldManager=me`, map, { contentType: type });
    assert.equal(made.status, 201);
    assert.deepEqual(made.tree, ['Patch', '  GuaranteedUpdate etcd3', '  SerializeObject']);
    assert.ok(made.events('GuaranteedUpdate etcd3').includes('Transaction committed'));
  });

  it('that marks as deleting records the update', async () => {
    const api = new TestApi({ kinds });
    await api.post(MAPS, { metadata: { name: 'a', finalizers: ['x.example/y'] } });
    const marked = await traced(api, `DELETE ${MAPS}/a`);
    assert.deepEqual(marked.tree, ['Delete', '  cacher.Get', '  GuaranteedUpdate etcd3', '  SerializeObject']);
    assert.ok(marked.events('GuaranteedUpdate etcd3').includes('Transaction committed'));
    const again = await traced(api, `DELETE ${MAPS}/a`);
    assert.equal(again.events('GuaranteedUpdate etcd3').at(-1), 'Encode succeeded');
  });

  it('that lists counts; refused before the store is read, it has no end', async () => {
    const api = new TestApi({ kinds });
    await api.post(MAPS, { metadata: { name: 'a' } });
    const list = await traced(api, `GET ${MAPS}`);
    assert.deepEqual(list.named('List')?.events.at(-1)?.attributes, { count: 1 });
    assert.ok(list.events('cacher.GetList').includes('Resized result'));
    const odd = await traced(api, `GET ${MAPS}?labelSelector=%21%21`);
    assert.deepEqual([odd.status, odd.tree, odd.orphans], [400, [], ['SerializeObject']]);
    const token = await traced(api, `GET ${MAPS}?continue=x`);
    assert.deepEqual(token.tree, ['List', '  SerializeObject']);
    const one = await traced(api, `GET ${MAPS}?fieldSelector=metadata.name%3Da`);
    assert.equal(one.named('List')?.attributes['verb'], 'GET');
  });

  it('that scales records what it does as any other', async () => {
    const api = new TestApi({ kinds: [deployments as unknown as KindDefinition] });
    const at = '/apis/apps/v1/namespaces/n/deployments';
    const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    const spec = { selector: { matchLabels: { a: 'b' } }, template };
    await api.post(at, { metadata: { name: 'd' }, spec });
    const patch = await traced(
      api,
      `PATCH ${at}/d/scale`,
      { spec: { replicas: 2 } },
      { contentType: 'application/merge-patch+json' },
    );
    assert.equal(patch.status, 200);
    assert.deepEqual(patch.events('Patch').slice(1, 6), [
      'Recorded the audit event',
      'About to apply patch',
      'About to check admission control',
      'Object stored in database',
      'About to write a response',
    ]);
    const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'd' }, spec: { replicas: 3 } };
    const put = await traced(api, `PUT ${at}/d/scale`, scale);
    assert.equal(put.status, 200);
    assert.deepEqual(put.events('Update').slice(1, 6), [
      'About to convert to expected version',
      'Conversion done',
      'About to store object in database',
      'Write to database call succeeded',
      'About to write a response',
    ]);
  });

  it('that gets a log records what it reads, and nothing that is an object', async () => {
    const log = await traced(
      new TestApi({ kinds: [pods as unknown as KindDefinition] }),
      'GET /api/v1/namespaces/n/pods/p/log?tailLines=x',
    );
    assert.deepEqual([log.status, log.tree], [400, ['Get', '  SerializeObject']]);
    assert.deepEqual(log.events('Get'), ['About to process Get options']);
    assert.equal(log.named('Get')?.attributes['verb'], 'CONNECT');
  });
});
