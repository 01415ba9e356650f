import { present } from '../../lib/values/present.js';
import type { KubeObject } from '../../machinery/object.js';
import type { KindDefinition } from '../../registry/kind.js';
import type { Event as CoreEvent } from '../../schema/generated/core.v1.js';
import type { Event } from '../../schema/generated/events.v1.js';
import { selectable, sharedEvent } from '../core/event/definition.js';
import { validateEventUpdate, validateNewEvent } from '../core/event/validation.js';

/** The same stored objects as the core group's events, under newer names and stricter rules. */
export const groupEvents: KindDefinition<CoreEvent> = {
  ...sharedEvent,
  group: 'events.k8s.io',
  versions: [{ version: 'v1', toStorage, fromStorage }],
  storageVersion: 'v1',
  storage: { ...sharedEvent.storage, group: '' },
  strategy: {
    validate: validateNewEvent,
    validateUpdate: validateEventUpdate,
    allowCreateOnUpdate: true,
    delete: { defaultGarbageCollection: 'unsupported' },
  },
  selection: { fields: (event) => selectable(event, 'regarding', 'reportingController') },
};

function toStorage(object: KubeObject): CoreEvent {
  const event = object as Event;
  return present({
    kind: 'Event',
    apiVersion: 'v1',
    metadata: event.metadata,
    involvedObject: event.regarding,
    reason: event.reason,
    message: event.note,
    source: event.deprecatedSource,
    firstTimestamp: event.deprecatedFirstTimestamp,
    lastTimestamp: event.deprecatedLastTimestamp,
    count: event.deprecatedCount,
    type: event.type,
    eventTime: event.eventTime,
    series: event.series && present({ ...event.series, count: event.series.count || undefined }),
    action: event.action,
    related: event.related,
    reportingComponent: event.reportingController ?? '',
    reportingInstance: event.reportingInstance ?? '',
  });
}

function fromStorage(event: CoreEvent): CoreEvent {
  return present({
    kind: 'Event',
    apiVersion: 'events.k8s.io/v1',
    metadata: event.metadata,
    eventTime: event.eventTime,
    series: event.series && { ...event.series, count: event.series.count ?? 0 },
    reportingController: event.reportingComponent || undefined,
    reportingInstance: event.reportingInstance || undefined,
    action: event.action,
    reason: event.reason,
    regarding: event.involvedObject,
    related: event.related,
    note: event.message,
    type: event.type,
    deprecatedSource: event.source,
    deprecatedFirstTimestamp: event.firstTimestamp,
    deprecatedLastTimestamp: event.lastTimestamp,
    deprecatedCount: event.count,
  }) as unknown as CoreEvent;
}
