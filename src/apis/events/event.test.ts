import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../../machinery/object.js';
import type { Event as CoreEvent } from '../../schema/generated/core.v1.js';
import type { KindDefinition } from '../../registry/kind.js';
import type { Event } from '../../schema/generated/events.v1.js';
import { validateEventUpdate, validateNewEvent } from '../core/event/validation.js';
import { TestApi } from '../../server/testing/test-api.js';
import { groupEvents } from './event.js';

const version = groupEvents.versions[0];

const event = (): Event => ({
  kind: 'Event',
  apiVersion: 'events.k8s.io/v1',
  metadata: { name: 'e', namespace: 'ns' },
  eventTime: '2020-01-01T00:00:00.000000Z',
  series: { count: 3, lastObservedTime: '2020-01-01T00:01:00.000000Z' },
  reportingController: 'a.b/c',
  reportingInstance: 'i',
  action: 'Do',
  reason: 'Why',
  regarding: { kind: 'Pod', namespace: 'ns', name: 'p' },
  note: 'text',
  type: 'Normal',
  deprecatedSource: {},
  deprecatedFirstTimestamp: null,
  deprecatedLastTimestamp: null,
});

const stored = (): CoreEvent => {
  const made = version?.toStorage?.(event() as KubeObject as CoreEvent);
  assert.ok(made);
  return made;
};

test('an event is the same object in both groups', () => {
  const core = stored();
  assert.equal(core.involvedObject.name, 'p');
  assert.equal(core.message, 'text');
  assert.deepEqual(version?.fromStorage?.(core), event());
});

test('a new event says when, who and what, and nothing in the old way', () => {
  assert.deepEqual(validateNewEvent(stored()), []);
  const old = { ...stored(), count: 2, source: { component: 'x' } };
  assert.deepEqual(
    validateNewEvent(old).map(({ field }) => field),
    ['count', 'source'],
  );
});

test('of an event only the series may change', () => {
  assert.deepEqual(
    validateEventUpdate(
      { ...stored(), series: { count: 4, lastObservedTime: '2020-01-01T00:02:00.000000Z' } },
      stored(),
    ),
    [],
  );
  assert.deepEqual(
    validateEventUpdate({ ...stored(), message: 'other' }, stored()).map(({ field }) => field),
    ['message'],
  );
});

test('a refusal names the requested group, a validation error the group of the store', async () => {
  const api = new TestApi({ kinds: [groupEvents as unknown as KindDefinition] });
  const EVENTS = '/apis/events.k8s.io/v1/namespaces/ns/events';
  assert.equal((await api.get(`${EVENTS}/e`)).body.message, 'events.events.k8s.io "e" not found');
  assert.equal((await api.post(EVENTS, event())).status, 201);
  assert.equal((await api.post(EVENTS, event())).body.message, 'events.events.k8s.io "e" already exists');
  const { body } = await api.post(EVENTS, { ...event(), metadata: { name: 'f' }, reportingController: '' });
  assert.match(body.message, /^Event "f" is invalid: \[reportingController: Required value/);
});
