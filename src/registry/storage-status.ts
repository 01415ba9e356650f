// The one place where an error of the store becomes an answer for a client.
import {
  alreadyExists,
  conflict,
  expired,
  badRequest,
  type GroupResource,
  groupResourceText,
  internalError,
  notFound,
  requestEntityTooLarge,
  serviceUnavailable,
  STALE_OBJECT,
  StatusError,
  tooManyRequests,
} from '../machinery/status.js';
import { StorageError } from '../storage/store.js';

/** Answers a StatusError for an error of the store, and any other error as it is. */
export function fromStorage(error: unknown, resource: GroupResource, name: string): unknown {
  if (!(error instanceof StorageError)) return error;
  switch (error.code) {
    case 'key-exists':
      return alreadyExists(resource, name);
    case 'not-found':
      return notFound(resource, name);
    case 'conflict':
      return conflict(resource, name, STALE_OBJECT);
    case 'too-old':
      return expired('The resourceVersion for the provided list is too old.');
    case 'too-new':
      return tooLargeResourceVersion(error);
    case 'invalid-continue':
      return badRequest(error.message);
    case 'expired-continue':
      return expiredContinue(error.details.inconsistentContinue ?? '');
    case 'unavailable':
      return serviceUnavailable(error.message);
    case 'corrupt':
      return isBare(error) ? new StatusError(500, '', error.message) : internalError(error.message);
    case 'encryption-failed':
      return internalError(error.message);
    case 'unreadable-list':
      return unreadableList(error, resource);
    case 'initializing':
      return tooManyRequests(error.message, error.details.retryAfterSeconds ?? 1);
    // etcd's error is no Status to kube-apiserver, which answers its text without a reason.
    case 'no-space':
    case 'conversion':
      return new StatusError(500, '', error.message);
    case 'too-large':
      return requestEntityTooLarge(error.message);
  }
}

/** What can be opened but not read has no reason, as a conversion that failed has none, unless its object is named. */
const isBare = ({ message, details: { fault } }: StorageError): boolean =>
  fault?.what === 'content' && fault.cause === message;

/** The error that ends a watch is sent inside its stream: the answer has begun already. */
export function watchFailure(error: StorageError): StatusError {
  switch (error.code) {
    case 'too-old':
      return expired(error.message);
    case 'expired-continue':
      return expiredContinue(error.details.inconsistentContinue ?? '');
    case 'too-new':
      return tooLargeResourceVersion(error);
    default:
      return internalError(error.message);
  }
}

/** Names each object, so that somebody can delete it unseen. */
function unreadableList({ details }: StorageError, resource: GroupResource): StatusError {
  const causes = (details.unreadable ?? []).map(({ field, message }) =>
    field === '' ? { reason: 'FieldValueTooMany', message } : { reason: 'UnexpectedServerResponse', message, field },
  );
  const message = `failed to read one or more ${groupResourceText(resource)} from the storage`;
  return new StatusError(500, 'StorageReadError', message, {
    name: 'list',
    ...(resource.group !== '' && { group: resource.group }),
    kind: resource.resource,
    causes,
  });
}

function tooLargeResourceVersion(error: StorageError): StatusError {
  const { requestedRevision, currentRevision } = error.details;
  return new StatusError(
    504,
    'Timeout',
    `Timeout: Too large resource version: ${requestedRevision ?? 0}, current: ${currentRevision ?? 0}`,
    {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    },
  );
}

function expiredContinue(continueToken: string): StatusError {
  const error = expired(
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without ' +
      'the continue parameter, or use the continue token in this response to retrieve the remainder of the results. ' +
      'Continuing with the provided token results in an inconsistent list - objects that were created, modified, or ' +
      'deleted between the time the first chunk was returned and now may show up in the list.',
  );
  error.continueToken = continueToken;
  return error;
}
