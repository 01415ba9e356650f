import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noteExplicitEmpty } from '../../../machinery/explicit-empty.js';
import { internalDiff, internalLines } from './diff.js';
import { internalValue } from './internal-value.js';

const given = { name: 'g' };
noteExplicitEmpty(given, { command: [], env: [] });

const SPEC = {
  hostNetwork: true,
  nodeSelector: { b: '<', a: '2' },
  containers: [
    given,
    {
      name: 'c',
      command: ['sh', '-c', 'a && b'],
      ports: [{ containerPort: 80 }, { containerPort: 81, protocol: 'TCP' }],
      resources: { requests: { memory: '1Gi', cpu: '1' } },
      env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 's', key: 'k', optional: false } } }],
      livenessProbe: { httpGet: { port: 'http', httpHeaders: [{ name: 'a', value: '"\u2028"' }] } },
    },
  ],
  volumes: [
    { name: 'v', emptyDir: {} },
    {
      name: 'e',
      ephemeral: {
        volumeClaimTemplate: {
          metadata: { labels: { a: 'b' }, name: undefined },
          spec: { accessModes: ['ReadWriteOnce'], selector: { matchLabels: { a: 'b' } } },
        },
      },
    },
    { name: 'p', projected: { sources: [{ configMap: { name: 'c', items: [{ key: 'k', path: 'p', mode: 7 }] } }] } },
  ],
  tolerations: [],
  terminationGracePeriodSeconds: 30,
};

test('a value has a line for each member, as it has elsewhere in one', () => {
  for (const [struct, value] of [
    ['PodSpec', SPEC],
    ['PodSpec', {}],
    ['EphemeralContainer', { name: 'x', targetContainerName: 'c' }],
    ['PersistentVolumeClaimSpec', null],
  ] as const) {
    const whole: unknown = JSON.parse(internalValue(struct, value).text);
    assert.deepEqual(JSON.parse(internalLines(struct, value).join('\n')), whole);
    const encoded = JSON.stringify(whole, null, 1).replace(
      /[<>&\u2028\u2029]/g,
      (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
    assert.equal(internalLines(struct, value).join('\n'), encoded);
  }
});

test('numbers beyond what doubles hold show as the nearest double, and keys in the order of their characters', () => {
  const lines = internalLines('PodSpec', {
    terminationGracePeriodSeconds: 9007199254740993n,
    nodeSelector: { 9: '', 10: '', a: '' },
  });
  assert.ok(lines.includes(' "TerminationGracePeriodSeconds": 9007199254740992,'));
  const at = lines.indexOf(' "NodeSelector": {');
  assert.deepEqual(lines.slice(at + 1, at + 4), ['  "10": "",', '  "9": "",', '  "a": ""']);
});

test('one changed member of a large spec is shown as in a small one', () => {
  const volumes = Array.from({ length: 30_000 }, (_, i) => ({ name: `v${i}`, emptyDir: {} }));
  const changed = volumes.map((volume, i) => (i === 15_000 ? { name: 'other', emptyDir: {} } : volume));
  const hunk = /^@@ -\d+,7 \+\d+,7 @@\n((?:[ +-].*\n)*)$/;
  const large = hunk.exec(internalDiff('PodSpec', { volumes }, { volumes: changed }))?.[1];
  const few = { volumes: volumes.slice(14_999, 15_002) };
  const small = hunk.exec(internalDiff('PodSpec', few, { volumes: changed.slice(14_999, 15_002) }))?.[1];
  assert.ok(large?.includes('-   "Name": "v15000",\n+   "Name": "other",\n'));
  assert.equal(large, small);
});

test('metadata and label selectors are shown by their own names, in their own order, whatever order they came in', () => {
  const metadata = { labels: { a: 'b' }, annotations: { k: 'v' }, finalizers: ['x.io/f'], name: 'n' };
  const selector = { matchExpressions: [{ operator: 'Exists', key: 'k' }], matchLabels: { a: 'b' } };
  const claim = { metadata, spec: { selector } };
  const encoded =
    /^\{"name":"n","labels":\{"a":"b"\},"annotations":\{"k":"v"\},"finalizers":\["x.io\/f"\],"Spec":.*"Selector":\{"matchLabels":\{"a":"b"\},"matchExpressions":\[\{"key":"k","operator":"Exists"\}\]\}/;
  assert.match(internalValue('PersistentVolumeClaimTemplate', claim).text, encoded);
  const lines = internalLines('PersistentVolumeClaimTemplate', claim);
  assert.match(JSON.stringify(JSON.parse(lines.join('\n'))), encoded);
});
