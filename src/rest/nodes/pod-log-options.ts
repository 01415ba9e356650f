// What may stand in the query of a request for a container's log.
import {
  FieldPath,
  type FieldErrors,
  forbidden,
  invalid as invalidField,
  plainNotSupported,
} from '../../machinery/field-error.js';
import { badRequest, invalid } from '../../machinery/status.js';
import { canonicalTime, TimeError, ZERO_TIME } from '../../machinery/time.js';
import { NOT_NEGATIVE } from '../../machinery/validation/fields.js';
import type { FeatureGates } from '../../registry/kind.js';
import { exactInteger, flag } from '../contract/query-options.js';

export interface LogOptions {
  readonly container: string;
  readonly follow: boolean;
  readonly previous: boolean;
  readonly timestamps: boolean;
  readonly sinceSeconds: bigint | undefined;
  readonly sinceTime: string | undefined;
  readonly tailLines: bigint | undefined;
  readonly limitBytes: bigint | undefined;
  readonly unverified: boolean;
  readonly stream: string | undefined;
}

/** Of several mistakes the first is reported, in this order. */
export function readLogOptions(query: URLSearchParams): LogOptions {
  const isSet = (name: string): boolean => flag(query, name) === true;
  return {
    container: query.get('container') ?? '',
    follow: isSet('follow'),
    previous: isSet('previous'),
    sinceSeconds: exactInteger(query, 'sinceSeconds'),
    sinceTime: timeOf(query.get('sinceTime')),
    timestamps: isSet('timestamps'),
    tailLines: exactInteger(query, 'tailLines'),
    limitBytes: exactInteger(query, 'limitBytes'),
    unverified: isSet('insecureSkipTLSVerifyBackend'),
    stream: query.get('stream') ?? undefined,
  };
}

/** Said without a value, it is the beginning of time. */
function timeOf(text: string | null): string | undefined {
  if (text === null) return undefined;
  if (text === '' || text === 'null') return ZERO_TIME;
  try {
    return canonicalTime(text) ?? ZERO_TIME;
  } catch (error) {
    if (error instanceof TimeError) throw badRequest(error.message);
    throw error;
  }
}

const ALL_STREAMS = 'All';
const STREAMS: readonly string[] = [ALL_STREAMS, 'Stderr', 'Stdout'];
const POSITIVE = 'must be greater than 0';

export function checkLogOptions(options: LogOptions, podName: string, features: FeatureGates): void {
  const { tailLines, limitBytes, sinceSeconds, sinceTime, stream } = options;
  const errors: FieldErrors = [];
  if (tailLines !== undefined && tailLines < 0n) {
    errors.push(invalidField(FieldPath.of('tailLines'), tailLines, NOT_NEGATIVE));
  }
  if (limitBytes !== undefined && limitBytes < 1n) {
    errors.push(invalidField(FieldPath.of('limitBytes'), limitBytes, POSITIVE));
  }
  if (sinceSeconds !== undefined && sinceTime !== undefined) {
    errors.push(forbidden(FieldPath.of(''), 'at most one of `sinceTime` or `sinceSeconds` may be specified'));
  } else if (sinceSeconds !== undefined && sinceSeconds < 1n) {
    errors.push(invalidField(FieldPath.of('sinceSeconds'), sinceSeconds, POSITIVE));
  }
  if (!features.enabled('PodLogsQuerySplitStreams')) {
    if (stream !== undefined) errors.push(forbidden(FieldPath.of('stream'), 'may not be specified'));
  } else if (stream !== undefined) {
    if (!STREAMS.includes(stream)) errors.push(plainNotSupported(FieldPath.of('stream'), stream, STREAMS));
    if (stream !== ALL_STREAMS && tailLines !== undefined) {
      errors.push(forbidden(FieldPath.of(''), '`tailLines` and specific `stream` are mutually exclusive for now'));
    }
  }
  if (errors.length > 0) throw invalid({ group: '', kind: 'PodLogOptions' }, podName, errors);
}
