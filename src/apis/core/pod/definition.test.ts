import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TextFields } from '../../../storage/text-fields.js';
import { pods } from './definition.js';
import { testPod } from './testing.js';

test('fields that are read without parsing have the values that are selected by', () => {
  const names = pods.textFields ?? [];
  const read = new TextFields(names);
  const bare = testPod({});
  const full = {
    ...testPod({ restartPolicy: 'Never', schedulerName: 's', serviceAccountName: 'a', nodeName: 'n' }),
    status: { phase: 'Running', nominatedNodeName: 'm' },
  };
  for (const pod of [bare, full]) {
    const selectable = pods.selectableFields?.(pod) ?? {};
    const wanted = Object.fromEntries(names.map((name) => [name, selectable[name]]));
    assert.deepEqual(read.of(Buffer.from(JSON.stringify(pod))), wanted);
  }
});
