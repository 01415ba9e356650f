// Events are validated by the door they come through: the core group keeps the old, loose rules, events.k8s.io adds
// strict ones. Both see the object in the core group's shape.
import { append } from '../../../lib/values/append.js';
import { deepEqual } from '../../../lib/values/deep-equal.js';
import { type FieldErrors, FieldPath, invalid, required } from '../../../machinery/field-error.js';
import { IMMUTABLE, invalidEach, validateImmutableField } from '../../../machinery/validation/fields.js';
import { isDns1123Subdomain, isQualifiedName } from '../../../machinery/validation/names.js';
import type { Event, EventSource, ObjectReference } from '../../../schema/generated/core.v1.js';
import { internalValue } from '../internal-form/internal-value.js';

const WORD_MAX_BYTES = 128;
const NOTE_MAX_BYTES = 1024;

export const validateCoreEvent = (event: Readonly<Event>): FieldErrors => looseRules(event, 'reportingComponent');

export function validateNewEvent(event: Readonly<Event>): FieldErrors {
  const errors = looseRules(event, 'reportingController');
  const unset = (member: string): void => {
    errors.push(invalid(FieldPath.of(member), '', 'needs to be unset'));
  };
  append(errors, validateSeries(event));
  if (!event.eventTime) errors.push(required(FieldPath.of('eventTime')));
  if (event.type !== 'Normal' && event.type !== 'Warning') {
    errors.push(invalid(FieldPath.of('type'), '', `has invalid value: ${event.type ?? ''}`));
  }
  if (event.firstTimestamp) unset('firstTimestamp');
  if (event.lastTimestamp) unset('lastTimestamp');
  if (event.count) unset('count');
  if (event.source.component || event.source.host) unset('source');
  return errors;
}

export function validateEventUpdate(event: Readonly<Event>, old: Readonly<Event>): FieldErrors {
  const errors = looseRules(event, 'reportingController');
  if (!deepEqual(event.series, old.series)) append(errors, validateSeries(event));
  const text = (member: 'action' | 'message' | 'reason' | 'reportingInstance' | 'type'): void => {
    append(errors, validateImmutableField(event[member] ?? '', old[member] ?? '', FieldPath.of(member)));
  };
  append(errors, sameReference(event.involvedObject, old.involvedObject, 'involvedObject'));
  text('reason');
  text('message');
  append(errors, sameSource(event.source, old.source));
  append(
    errors,
    validateImmutableField(event.firstTimestamp, old.firstTimestamp, FieldPath.of('firstTimestamp')),
    validateImmutableField(event.lastTimestamp, old.lastTimestamp, FieldPath.of('lastTimestamp')),
    validateImmutableField(event.count ?? 0, old.count ?? 0, FieldPath.of('count')),
  );
  // kube-apiserver looks at the reason twice, and its answers show it.
  text('reason');
  text('type');
  append(errors, validateImmutableField(event.eventTime, old.eventTime, FieldPath.of('eventTime')));
  text('action');
  append(
    errors,
    sameReference(event.related, old.related, 'related'),
    validateImmutableField(event.reportingComponent, old.reportingComponent, FieldPath.of('reportingController')),
  );
  text('reportingInstance');
  return errors;
}

function looseRules(event: Readonly<Event>, controllerMember: string): FieldErrors {
  const errors: FieldErrors = [];
  const namespace = event.metadata.namespace ?? '';
  const about = event.involvedObject.namespace ?? '';
  const mismatch = invalid(FieldPath.of('involvedObject', 'namespace'), about, 'does not match event.namespace');
  if (!event.eventTime) {
    if (about === '' ? namespace !== '' && namespace !== 'default' : namespace !== about) errors.push(mismatch);
  } else {
    if (about === '' && namespace !== 'default' && namespace !== 'kube-system') errors.push(mismatch);
    append(errors, timedRules(event, FieldPath.of(controllerMember)));
  }
  append(errors, invalidEach(FieldPath.of('namespace'), namespace, isDns1123Subdomain(namespace)));
  return errors;
}

/** An event that says when it happened must also say who saw it and what was done. */
function timedRules(event: Readonly<Event>, controllerPath: FieldPath): FieldErrors {
  const errors: FieldErrors = [];
  if (!event.reportingComponent) errors.push(required(controllerPath));
  append(errors, invalidEach(controllerPath, event.reportingComponent, isQualifiedName(event.reportingComponent)));
  for (const member of ['reportingInstance', 'action', 'reason'] as const) {
    const value = event[member] ?? '';
    if (value === '') errors.push(required(FieldPath.of(member)));
    append(errors, noLonger(value, WORD_MAX_BYTES, member));
  }
  append(errors, noLonger(event.message ?? '', NOTE_MAX_BYTES, 'message'));
  return errors;
}

const noLonger = (value: string, maxBytes: number, member: string): FieldErrors =>
  Buffer.byteLength(value) > maxBytes
    ? [invalid(FieldPath.of(member), '', `can have at most ${maxBytes} characters`)]
    : [];

function validateSeries({ series }: Readonly<Event>): FieldErrors {
  if (series === undefined) return [];
  const errors: FieldErrors = [];
  if ((series.count ?? 0) < 2) errors.push(invalid(FieldPath.of('series.count'), '', 'should be at least 2'));
  if (!series.lastObservedTime) errors.push(required(FieldPath.of('series.lastObservedTime')));
  return errors;
}

function sameReference(
  value: ObjectReference | undefined,
  old: ObjectReference | undefined,
  member: string,
): FieldErrors {
  if (deepEqual(value, old)) return [];
  return [invalid(FieldPath.of(member), internalValue('ObjectReference', value), IMMUTABLE)];
}

function sameSource(value: EventSource, old: EventSource): FieldErrors {
  if (deepEqual(value, old)) return [];
  const shown = { Component: value.component ?? '', Host: value.host ?? '' };
  return [invalid(FieldPath.of('source'), shown, IMMUTABLE)];
}
