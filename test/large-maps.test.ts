// Maps of many thousand members are closed when they are read (lib/values/key-cache.ts). Everything that adds to the maps of an
// object it receives must still be able to: plugins, policies, bindings, patches, scales and defaults.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startTestServer, type TestServer } from './support/server.js';
import { pollUntil } from '../src/lib/testing/poll-until.js';

const MEMBERS = 9000;
const LARGE_TEXT = 'x'.repeat(200_000);
const MERGE_PATCH = 'application/merge-patch+json';
const JSON_PATCH = 'application/json-patch+json';
const many = (): Record<string, string> =>
  Object.fromEntries(Array.from({ length: MEMBERS }, (_, i) => [`a${i}`, 'some-value']));

describe('maps of thousands of members', { timeout: 120_000 }, () => {
  let server: TestServer;
  const pods = '/api/v1/namespaces/default/pods';
  const things = '/apis/x.test/v1/namespaces/default/things';
  const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

  before(async () => {
    server = await startTestServer({ flags: ['--disable-admission-plugins=ServiceAccount'] });
  });
  after(() => server.stop());

  async function send(method: string, path: string, body?: object, contentType?: string): Promise<Answered> {
    const answer = await server.request(method, path, body, contentType);
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.body.slice(0, 300)}`);
    return JSON.parse(answer.body) as Answered;
  }

  it('are added to by plugins, a binding and patches', async () => {
    const limits = [{ type: 'Container', default: { cpu: '100m' } }];
    await send('POST', '/api/v1/namespaces/default/limitranges', { metadata: { name: 'l' }, spec: { limits } });
    const made = await send('POST', pods, {
      metadata: { name: 'p', labels: many(), annotations: many() },
      spec: { nodeSelector: many(), containers: [{ name: 'c', image: 'i', args: [LARGE_TEXT] }] },
    });
    assert.match(made.metadata.annotations?.['kubernetes.io/limit-ranger'] ?? '', /^LimitRanger plugin set: cpu/);
    const binding = { metadata: { name: 'p', annotations: { bound: 'yes' } }, target: { kind: 'Node', name: 'n' } };
    await send('POST', `${pods}/p/binding`, binding);
    await send('PATCH', `${pods}/p`, [{ op: 'add', path: '/metadata/labels/patched', value: 'yes' }], JSON_PATCH);
    await send('PATCH', `${pods}/p`, { metadata: { annotations: { merged: 'yes' } } }, MERGE_PATCH);
    const { metadata } = await send('GET', `${pods}/p`);
    assert.equal(metadata.annotations?.['bound'], 'yes');
    assert.equal(metadata.annotations?.['merged'], 'yes');
    assert.equal(metadata.labels?.['patched'], 'yes');
    assert.equal(Object.keys(metadata.labels ?? {}).length, MEMBERS + 1);
  });

  it('are added to by scales and by defaults that came later', async () => {
    const spec = {
      type: 'object',
      'x-kubernetes-preserve-unknown-fields': true,
      properties: { n: { type: 'integer' } },
    };
    const status = { type: 'object', properties: { n: { type: 'integer' } } };
    await send('POST', crds, {
      metadata: { name: 'things.x.test' },
      spec: {
        group: 'x.test',
        scope: 'Namespaced',
        names: { plural: 'things', kind: 'Thing' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            subresources: { scale: { specReplicasPath: '.spec.n', statusReplicasPath: '.status.n' } },
            schema: { openAPIV3Schema: { type: 'object', properties: { spec, status } } },
          },
        ],
      },
    });
    await pollUntil(async () => (await server.request('GET', things)).status === 200);
    const thing = { apiVersion: 'x.test/v1', kind: 'Thing', metadata: { name: 't' } };
    await send('POST', things, { ...thing, spec: { ...many(), text: LARGE_TEXT } });
    await send('PATCH', `${things}/t/scale`, { spec: { replicas: 3 } }, MERGE_PATCH);
    const path = '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/late';
    const late = [{ op: 'add', path, value: { type: 'string', default: 'yes' } }];
    await send('PATCH', `${crds}/things.x.test`, late, JSON_PATCH);
    await pollUntil(async () => (await send('GET', `${things}/t`)).spec['late'] === 'yes');
    await send('PATCH', `${things}/t`, { spec: { merged: 'yes' } }, MERGE_PATCH);
    const { spec: kept } = await send('GET', `${things}/t`);
    assert.deepEqual([kept['n'], kept['late'], kept['merged']], [3, 'yes', 'yes']);
    assert.equal(Object.keys(kept).length, MEMBERS + 4);
  });
});

interface Answered {
  readonly metadata: {
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: Readonly<Record<string, unknown>>;
}
