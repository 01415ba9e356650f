// A Status that somebody else's server sent.
import { isPlainObject } from '../lib/values/plain-object.js';
import { type StatusCause, type StatusDetails, StatusError } from './status.js';

/** What a refusal was about has room in this; more is no Status. */
const MAX_STATUS_BYTES = 1024 * 1024;

/** The Status in a body, or undefined when it is something else. */
export function parseStatus(body: Buffer): StatusError | undefined {
  if (body.length > MAX_STATUS_BYTES) return undefined;
  let tree: unknown;
  try {
    tree = JSON.parse(body.toString());
  } catch {
    return undefined;
  }
  if (!isPlainObject(tree) || tree['kind'] !== 'Status' || (tree['apiVersion'] ?? 'v1') !== 'v1') return undefined;
  return tree['status'] === 'Failure' ? statusErrorOf(tree) : undefined;
}

/** The members of a Status as an error; those of other types than they should be are passed over. */
export function statusErrorOf(status: Readonly<Record<string, unknown>>): StatusError {
  const details = isPlainObject(status['details']) ? detailsOf(status['details']) : undefined;
  return new StatusError(numberIn(status, 'code'), textIn(status, 'reason'), textIn(status, 'message'), details);
}

function detailsOf(details: Readonly<Record<string, unknown>>): StatusDetails {
  const causes = Array.isArray(details['causes']) ? details['causes'].filter(isPlainObject).map(causeOf) : [];
  return {
    name: textIn(details, 'name'),
    group: textIn(details, 'group'),
    kind: textIn(details, 'kind'),
    uid: textIn(details, 'uid'),
    causes,
    retryAfterSeconds: numberIn(details, 'retryAfterSeconds'),
  };
}

const causeOf = (cause: Readonly<Record<string, unknown>>): StatusCause => ({
  ...members(cause, 'reason'),
  ...members(cause, 'message'),
  ...members(cause, 'field'),
});

const members = (from: Readonly<Record<string, unknown>>, name: string): object =>
  textIn(from, name) === '' ? {} : { [name]: textIn(from, name) };

const textIn = (from: Readonly<Record<string, unknown>>, name: string): string =>
  typeof from[name] === 'string' ? from[name] : '';

const numberIn = (from: Readonly<Record<string, unknown>>, name: string): number =>
  typeof from[name] === 'number' ? from[name] : 0;
