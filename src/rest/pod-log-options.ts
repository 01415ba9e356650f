// What may stand in the query of a request for a container's log.
import {
  FieldPath,
  type FieldErrors,
  forbidden,
  invalid as invalidField,
  notSupported,
} from '../machinery/field-error.js';
import { badRequest, invalid } from '../machinery/status.js';
import { canonicalTime, TimeError } from '../machinery/time.js';
import { NOT_NEGATIVE } from '../machinery/validation/fields.js';
import type { FeatureGates } from '../registry/kind.js';
import { integer } from './query-options.js';

const ALL_STREAMS = 'All';
const STREAMS: readonly string[] = [ALL_STREAMS, 'Stderr', 'Stdout'];
const POSITIVE = 'must be greater than 0';

export function checkLogOptions(query: URLSearchParams, podName: string, features: FeatureGates): void {
  const tailLines = integer(query, 'tailLines');
  const limitBytes = integer(query, 'limitBytes');
  const sinceSeconds = integer(query, 'sinceSeconds');
  const sinceTime = query.get('sinceTime');
  checkTime(sinceTime ?? '');

  const errors: FieldErrors = [];
  if (tailLines !== undefined && tailLines < 0) {
    errors.push(invalidField(FieldPath.of('tailLines'), tailLines, NOT_NEGATIVE));
  }
  if (limitBytes !== undefined && limitBytes < 1) {
    errors.push(invalidField(FieldPath.of('limitBytes'), limitBytes, POSITIVE));
  }
  if (sinceSeconds !== undefined && sinceTime !== null) {
    errors.push(forbidden(FieldPath.of(''), 'at most one of `sinceTime` or `sinceSeconds` may be specified'));
  } else if (sinceSeconds !== undefined && sinceSeconds < 1) {
    errors.push(invalidField(FieldPath.of('sinceSeconds'), sinceSeconds, POSITIVE));
  }
  const stream = query.get('stream');
  if (!features.enabled('PodLogsQuerySplitStreams')) {
    if (stream !== null) errors.push(forbidden(FieldPath.of('stream'), 'may not be specified'));
  } else if (stream !== null) {
    if (!STREAMS.includes(stream)) errors.push(notSupported(FieldPath.of('stream'), stream, STREAMS));
    if (stream !== ALL_STREAMS && tailLines !== undefined) {
      errors.push(forbidden(FieldPath.of(''), '`tailLines` and specific `stream` are mutually exclusive for now'));
    }
  }
  if (errors.length > 0) throw invalid({ group: '', kind: 'PodLogOptions' }, podName, errors);
}

function checkTime(text: string): void {
  if (text === '' || text === 'null') return;
  try {
    canonicalTime(text);
  } catch (error) {
    if (error instanceof TimeError) throw badRequest(error.message);
    throw error;
  }
}
