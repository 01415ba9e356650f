import { silentLog } from '../../lib/testing/test-log.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { flowcontrolKinds } from '../../apis/flowcontrol/index.js';
import { systemClock } from '../../lib/async/clock.js';
import { type Body, TestApi, type TestWatch } from '../../server/testing/test-api.js';
import { createServerClient } from '../../registry/server-client.js';
import { markDanglingFlowSchemas } from './mark-dangling.js';

const API = '/apis/flowcontrol.apiserver.k8s.io/v1';
const SCHEMAS = `${API}/flowschemas`;
const LEVELS = `${API}/prioritylevelconfigurations`;
const schema = { metadata: { name: 's' }, spec: { priorityLevelConfiguration: { name: 'l' } } };
const level = { metadata: { name: 'l' }, spec: { type: 'Limited', limited: { limitResponse: { type: 'Reject' } } } };

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}
const conditions = ({ status }: Body): readonly Condition[] | undefined =>
  (status as { conditions?: readonly Condition[] }).conditions;

/** The next version of the schema that is marked as wanted. */
async function marked(watch: TestWatch, status: string): Promise<Body> {
  for (;;) {
    const { object } = await watch.next();
    if (conditions(object)?.some((one) => one.type === 'Dangling' && one.status === status)) return object;
  }
}

function start(api: TestApi): AbortController {
  const stop = new AbortController();
  const { operations, lookup } = api.resources;
  const store = (resource: string) => api.resources.store({ group: 'flowcontrol.apiserver.k8s.io', resource });
  void markDanglingFlowSchemas({
    client: createServerClient({ operations, lookup, context: api.context }),
    schemas: store('flowschemas'),
    levels: store('prioritylevelconfigurations'),
    clock: systemClock,
    signal: stop.signal,
    log: silentLog,
  });
  return stop;
}

test('a schema is marked when it is created, and again when its level comes and goes', async () => {
  const api = new TestApi({ kinds: flowcontrolKinds });
  await api.post(SCHEMAS, schema);
  const stop = start(api);
  const watch = await api.watch(`${SCHEMAS}?watch=1`);
  const head = 'This FlowSchema references the PriorityLevelConfiguration object named "l"';
  const dangling = await marked(watch, 'True');
  const [mark] = conditions(dangling) ?? [];
  assert.deepEqual([mark?.reason, mark?.message], ['NotFound', `${head} but there is no such object`]);
  const owner = dangling.metadata.managedFields?.[0];
  assert.equal(owner?.manager, 'api-priority-and-fairness-config-consumer-v1');
  assert.deepEqual([owner?.operation, owner?.subresource], ['Apply', 'status']);

  await api.post(LEVELS, level);
  const [found] = conditions(await marked(watch, 'False')) ?? [];
  assert.deepEqual([found?.reason, found?.message], ['Found', `${head} and it exists`]);
  await api.delete(`${LEVELS}/l`);
  await marked(watch, 'True');
  stop.abort();
  watch.stop();
});

test('other conditions stay, and a mark that is right is not written again', async () => {
  const api = new TestApi({ kinds: flowcontrolKinds });
  await api.post(LEVELS, level);
  await api.post(SCHEMAS, schema);
  const watch = await api.watch(`${SCHEMAS}?watch=1`);
  const first = start(api);
  await marked(watch, 'False');
  const other = { type: 'Other', status: 'True', lastTransitionTime: null, reason: 'R', message: 'm' };
  await api.patch(`${SCHEMAS}/s/status`, 'application/json-patch+json', [
    { op: 'add', path: '/status/conditions/-', value: other },
    { op: 'replace', path: '/status/conditions/0/status', value: 'True' },
  ]);
  const healed = await marked(watch, 'False');
  assert.deepEqual(
    conditions(healed)
      ?.map(({ type }) => type)
      .sort(),
    ['Dangling', 'Other'],
  );
  first.abort();

  const second = start(api);
  await api.post(SCHEMAS, { ...schema, metadata: { name: 't' } });
  await marked(watch, 'False');
  const { body } = await api.get(`${SCHEMAS}/s`);
  assert.equal(body.metadata.resourceVersion, healed.metadata.resourceVersion);
  second.abort();
  watch.stop();
});
