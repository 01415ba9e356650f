import type { KindDefinition } from '../../../registry/kind.js';
import { column, NAME_COLUMN, sinceCell, wideColumn } from '../../../registry/columns.js';
import type { Event } from '../../../schema/generated/core.v1.js';
import { pathSegmentName } from '../../../machinery/validation/names.js';
import { validateCoreEvent } from './validation.js';

/** What both groups that serve events share: they are two views of the same stored objects. */
export const sharedEvent = {
  kind: 'Event',
  plural: 'events',
  singular: 'event',
  shortNames: ['ev'],
  namespaced: true,
  storage: { keyPrefix: 'events', ttlSeconds: (_event, { options }) => options.eventTtlSeconds },
  table: {
    columns: [
      column('Last Seen', 'The time since it was last seen.'),
      column('Type', 'Whether it is normal or a warning.'),
      column('Reason', 'Why it happened, in one word for programs.'),
      column('Object', 'What it is about.'),
      wideColumn('Subobject', 'The part of the object it is about.'),
      wideColumn('Source', 'Who reported it.'),
      column('Message', 'What happened, for people.'),
      wideColumn('First Seen', 'The time since it was first seen.'),
      wideColumn('Count', 'How often it was seen.'),
      { ...NAME_COLUMN, priority: 1 },
    ],
    row: eventRow,
  },
} satisfies Partial<KindDefinition<Event>>;

export const events: KindDefinition<Event> = {
  ...sharedEvent,
  group: '',
  versions: [{ version: 'v1' }],
  storageVersion: 'v1',
  strategy: {
    metadataRules: { validateName: pathSegmentName, anyFinalizer: true, placedOnUpdate: true, checkedLast: true },
    validate: validateCoreEvent,
    validateUpdate: validateCoreEvent,
    allowCreateOnUpdate: true,
    delete: { defaultGarbageCollection: 'unsupported' },
  },
  selection: {
    fields: (event) => ({
      ...selectable(event, 'involvedObject', 'reportingComponent'),
      source: sourceOf(event),
    }),
  },
};

/** The selectable fields under the names one group gives them. */
export function selectable(event: Readonly<Event>, about: string, controller: string): Record<string, string> {
  const fields: Record<string, string> = {};
  for (const member of ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'] as const) {
    fields[`${about}.${member}`] = event.involvedObject[member] ?? '';
  }
  return { ...fields, reason: event.reason ?? '', [controller]: event.reportingComponent, type: event.type ?? '' };
}

const sourceOf = (event: Readonly<Event>): string => event.source.component || event.reportingComponent;

function eventRow(event: Readonly<Event>, now: Date): (string | number)[] {
  const first = sinceCell(event.firstTimestamp || event.eventTime, now);
  let last = event.lastTimestamp ? sinceCell(event.lastTimestamp, now) : first;
  let count = event.count ?? 0;
  if (event.series !== undefined) {
    last = sinceCell(event.series.lastObservedTime, now);
    count = event.series.count ?? 0;
  } else if (count === 0) count = 1;
  const { kind = '', name = '', fieldPath = '' } = event.involvedObject;
  const target = name === '' ? kind.toLowerCase() : `${kind.toLowerCase()}/${name}`;
  const instance = event.source.host || event.reportingInstance;
  const source = instance === '' ? sourceOf(event) : `${sourceOf(event)}, ${instance}`;
  const message = (event.message ?? '').trim();
  return [
    last,
    event.type ?? '',
    event.reason ?? '',
    target,
    fieldPath,
    source,
    message,
    first,
    count,
    event.metadata.name ?? '',
  ];
}
