import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KindDefinition } from '../../../registry/kind.js';
import { TestApi } from '../../../server/testing/test-api.js';
import { TextFields } from '../../../storage/text-fields.js';
import { pods } from './definition.js';
import { testPod } from './testing.js';

test('fields that are read without parsing have the values that are selected by', () => {
  const names = pods.selection?.textFields ?? [];
  const read = new TextFields(names);
  const bare = testPod({});
  const full = {
    ...testPod({ restartPolicy: 'Never', schedulerName: 's', serviceAccountName: 'a', nodeName: 'n' }),
    status: { phase: 'Running', nominatedNodeName: 'm' },
  };
  for (const pod of [bare, full]) {
    const selectable = pods.selection?.fields?.(pod) ?? {};
    const wanted = Object.fromEntries(names.map((name) => [name, selectable[name]]));
    assert.deepEqual(read.of(Buffer.from(JSON.stringify(pod))), wanted);
  }
});

test('a new pod has the class it says, and nothing else of the status it came with', async () => {
  const api = new TestApi({ kinds: [pods as unknown as KindDefinition] });
  const path = '/api/v1/namespaces/n/pods';
  const statusOf = async (name: string, status: object): Promise<unknown> => {
    const { spec } = testPod({});
    const { body } = await api.post(path, { metadata: { name }, spec, status });
    return (body as unknown as { status: unknown }).status;
  };
  assert.deepEqual(await statusOf('a', { phase: 'Running' }), { phase: 'Pending', qosClass: 'BestEffort' });
  assert.deepEqual(await statusOf('b', { qosClass: 'Guaranteed', podIP: '10.0.0.1' }), {
    phase: 'Pending',
    qosClass: 'Guaranteed',
  });
});
