import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AdmissionAttributes } from '../../admission/plugin.js';
import { nodes } from '../../apis/core/node/definition.js';
import { pods } from '../../apis/core/pod/definition.js';
import { forbidden } from '../../machinery/status.js';
import type { KindDefinition } from '../../registry/kind.js';
import { TestApi } from '../../server/testing/test-api.js';

const PODS = '/api/v1/namespaces/n/pods';
const kinds = [pods, nodes] as readonly KindDefinition[];
const pod = (nodeName?: string): object => ({
  metadata: { name: 'p' },
  spec: { nodeName, containers: [{ name: 'c', image: 'i' }] },
});

test('a log with options that cannot be is refused before the pod is looked for', async () => {
  const api = new TestApi({ kinds });
  for (const [query, status, message] of [
    ['tailLines=-1', 422, 'tailLines: Invalid value: -1: must be greater than or equal to 0'],
    ['limitBytes=0', 422, 'limitBytes: Invalid value: 0: must be greater than 0'],
    ['sinceSeconds=0', 422, 'sinceSeconds: Invalid value: 0: must be greater than 0'],
    [
      'sinceSeconds=1&sinceTime=2026-01-01T00:00:00Z',
      422,
      '[]: Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified',
    ],
    ['stream=Stdout', 422, 'stream: Forbidden: may not be specified'],
  ] as const) {
    const { status: seen, body } = await api.get(`${PODS}/p/log?${query}`);
    assert.deepEqual([seen, body.message], [status, `PodLogOptions "p" is invalid: ${message}`]);
  }
  const words = await api.get(`${PODS}/p/log?tailLines=x`);
  assert.deepEqual([words.status, words.body.message], [400, 'strconv.ParseInt: parsing "x": invalid syntax']);
  const day = await api.get(`${PODS}/p/log?sinceTime=today`);
  assert.equal(day.status, 400);
});

test('without a way to the node the answer says what is missing', async () => {
  const api = new TestApi({ kinds });
  await api.post(PODS, pod());
  assert.equal((await api.get(`${PODS}/p/log`)).status, 204);
  const unbound = await api.get(`${PODS}/p/exec?command=ls`);
  assert.deepEqual([unbound.status, unbound.body.message], [400, 'pod p does not have a host assigned']);

  const bound = new TestApi({ kinds });
  await bound.post(PODS, pod('here'));
  const ghost = await bound.get(`${PODS}/p/log`);
  assert.deepEqual([ghost.status, ghost.body.message], [404, 'pods "here" not found']);
  await bound.post('/api/v1/nodes', { metadata: { name: 'here' } });
  for (const path of [`${PODS}/p/log`, `${PODS}/p/attach`, '/api/v1/nodes/here/proxy/x']) {
    const { status, body } = await bound.get(path);
    assert.deepEqual(
      [status, body.reason, body.message],
      [500, undefined, 'no preferred addresses found; known addresses: []'],
    );
  }
});

test('admission reviews connections, but not about a log, which is read', async () => {
  const refuse = (): never => {
    throw forbidden({ group: '', resource: 'pods' }, 'p', 'closed');
  };
  const api = new TestApi({ kinds, admission: { admit: async () => refuse(), validate: async () => undefined } });
  assert.equal((await api.get(`${PODS}/p/exec?command=ls`)).status, 403);
  assert.equal((await api.get(`${PODS}/p/log`)).status, 404);
});

test('admission sees what a client that connects requests', async () => {
  const seen: unknown[] = [];
  const validate = async ({ kind, connectOptions }: AdmissionAttributes): Promise<void> => {
    seen.push(kind.kind, connectOptions);
  };
  const api = new TestApi({ kinds, admission: { validate } });
  await api.get(`${PODS}/p/exec?command=sh&command=-c&stdin=1&stdout=true&stderr=false&container=c`);
  await api.get('/api/v1/nodes/here/proxy/logs/x/');
  await api.get('/api/v1/nodes/here/proxy');
  assert.deepEqual(seen, [
    'PodExecOptions',
    {
      kind: 'PodExecOptions',
      apiVersion: 'v1',
      stdin: true,
      stdout: true,
      container: 'c',
      command: ['sh', '-c'],
    },
    'NodeProxyOptions',
    { kind: 'NodeProxyOptions', apiVersion: 'v1', path: '/logs/x/' },
    'NodeProxyOptions',
    { kind: 'NodeProxyOptions', apiVersion: 'v1' },
  ]);
});
