import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { configMaps } from '../apis/core/configmap/definition.js';
import { parseRequestInfo } from '../filters/request-info.js';
import { testRequest } from '../filters/testing.js';
import type { HttpResponse } from '../lib/http.js';
import type { KindDefinition } from '../registry/kind.js';
import { TestApi } from '../server/testing.js';
import type { RecordedSpan } from '../tracing/recorded-span.js';
import { requestEntityTooLarge } from '../machinery/status.js';
import { SCOPES } from '../tracing/trace.js';
import { Tracer } from '../tracing/tracer.js';

const MAPS = '/api/v1/namespaces/n/configmaps';
const kinds = [configMaps as unknown as KindDefinition];
const USER = { name: 'admin', groups: ['system:masters'] };

/** What a request leaves in its trace: names by depth, and each span by its name. */
async function traced(api: TestApi, method: string, target: string, body?: object, contentType = 'application/json') {
  const spans: RecordedSpan[] = [];
  const tracer = new Tracer({ ratePerMillion: 0, take: (span) => spans.push(span) });
  const root = tracer.root({ name: 'root', scope: SCOPES.http, kind: 'server', auditId: 'a-1', baggage: '' });
  const bytes = async (): Promise<Buffer> => {
    if (body instanceof Error) throw body;
    return Buffer.from(body === undefined ? '' : JSON.stringify(body));
  };
  const headers = { 'content-type': contentType, 'user-agent': 'test/1', accept: 'application/json' };
  const http = testRequest(method, target, { headers, body: bytes });
  const info = parseRequestInfo(http);
  assert.ok(typeof info === 'object');
  const nothing = (): void => undefined;
  const request = { http, info, user: USER, warn: nothing, annotate: nothing, trace: root };
  const answer: HttpResponse = await api.router.handle(request);
  const below = (id: string, depth: number): string[] =>
    spans
      .filter(({ parentId }) => parentId === id)
      .flatMap((span) => [`${'  '.repeat(depth)}${span.birth.name}`, ...below(span.id, depth + 1)]);
  const named = (name: string): RecordedSpan | undefined => spans.find(({ birth }) => birth.name === name);
  const events = (name: string): string[] => named(name)?.events.map((event) => event.name) ?? [];
  return { status: answer.status, tree: below(root.id, 0), named, events };
}

describe('a verb under a trace', () => {
  it('that creates tells of reading, storing and writing', async () => {
    const api = new TestApi({ kinds });
    const { status, tree, named, events } = await traced(api, 'POST', MAPS, { metadata: { name: 'a' } });
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

  it('that is refused tells so, and writes the refusal', async () => {
    const api = new TestApi({ kinds });
    await api.post(MAPS, { metadata: { name: 'a' } });
    const twice = await traced(api, 'POST', MAPS, { metadata: { name: 'a' } });
    assert.equal(twice.status, 409);
    assert.deepEqual(twice.tree, ['Create', '  Create etcd3', '  SerializeObject']);
    assert.equal(twice.events('Create').at(-1), 'Write to database call failed');
    const large = await traced(api, 'POST', MAPS, requestEntityTooLarge('limit is 7'));
    assert.equal(large.status, 413);
    assert.deepEqual(
      large.named('Create')?.events.map(({ name, attributes }) => [name, attributes]),
      [['limitedReadBody failed', { len: 0, err: 'Request entity too large: limit is 7' }]],
    );
    const missing = await traced(api, 'GET', `${MAPS}/b`);
    assert.deepEqual(missing.tree, ['Get', '  cacher.Get', '  SerializeObject']);
    assert.deepEqual(missing.events('Get'), ['About to Get from storage']);
  });

  it('that changes, patches, lists and deletes tells of its store', async () => {
    const api = new TestApi({ kinds });
    await api.post(MAPS, { metadata: { name: 'a' } });
    const put = await traced(api, 'PUT', `${MAPS}/a`, { metadata: { name: 'a' }, data: { k: 'v' } });
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
    const patch = await traced(api, 'PATCH', `${MAPS}/a`, { data: { k: 'w' } }, 'application/merge-patch+json');
    assert.deepEqual(patch.events('Patch'), [
      'limitedReadBody succeeded',
      'Recorded the audit event',
      'About to apply patch',
      'About to check admission control',
      'Object stored in database',
      'About to write a response',
      'Writing http response done',
    ]);
    const list = await traced(api, 'GET', `${MAPS}?limit=5`);
    assert.deepEqual(list.tree, ['List', '  cacher.GetList', '  SerializeObject']);
    assert.equal(list.named('List')?.attributes['verb'], 'LIST');
    assert.equal(list.named('List')?.attributes['scope'], 'namespace');
    const gone = await traced(api, 'DELETE', `${MAPS}/a`);
    assert.deepEqual(gone.tree, ['Delete', '  cacher.Get', '  SerializeObject']);
    assert.deepEqual(gone.events('Delete').slice(1, 3), [
      'About to delete object from database',
      'Object deleted from database',
    ]);
  });

  it('that is nowhere has no span', async () => {
    const { status, tree } = await traced(new TestApi({ kinds }), 'GET', '/api/v1/namespaces/n/nothings/a');
    assert.equal(status, 404);
    assert.deepEqual(tree, []);
  });
});
