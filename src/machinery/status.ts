// What a client sees when a request is refused.
import { aggregateText, type FieldError, fieldErrorText } from './field-error.js';
import { goQuote } from '../lib/go/quote.js';

export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

export interface Status {
  readonly kind: 'Status';
  readonly apiVersion: 'v1';
  readonly metadata: { readonly resourceVersion?: string; readonly continue?: string };
  readonly status: 'Failure' | 'Success';
  readonly message?: string;
  readonly reason?: string;
  readonly details?: StatusDetails;
  readonly code?: number;
}

export interface GroupResource {
  readonly group: string;
  readonly resource: string;
}

export interface GroupKind {
  readonly group: string;
  readonly kind: string;
}

/** `deployments.apps`, or `pods` in the core group. */
export const groupResourceText = ({ group, resource }: GroupResource): string =>
  group === '' ? resource : `${resource}.${group}`;
export const groupKindText = ({ group, kind }: GroupKind): string => (group === '' ? kind : `${kind}.${group}`);

/** The one error that is meant for the client; everything else that is thrown is our bug and answers 500. */
export class StatusError extends Error {
  /** Set on an expired list: where the list can go on, inconsistently. */
  continueToken = '';
  /** Set where somebody else's server refused and said so. */
  resourceVersion = '';
  /** Set where it is long and was made elsewhere: all of the Status, as JSON. The message may be only a prefix. */
  encoded: Buffer | undefined = undefined;

  constructor(
    readonly code: number,
    readonly reason: string,
    message: string,
    readonly details?: StatusDetails,
  ) {
    super(message);
  }

  get status(): Status {
    if (this.encoded !== undefined) return JSON.parse(this.encoded.toString()) as Status;
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {
        ...(this.resourceVersion !== '' && { resourceVersion: this.resourceVersion }),
        ...(this.continueToken !== '' && { continue: this.continueToken }),
      },
      status: 'Failure',
      message: this.message,
      ...(this.reason === '' ? {} : { reason: this.reason }),
      ...(this.details === undefined ? {} : { details: pruneDetails(this.details) }),
      code: this.code,
    };
  }
}

/** No route of the path fits: refused before anything of the verb began. */
export class RouteRefusal extends StatusError {}

/** Encodes details in the wire's order, without their empty members. */
function pruneDetails(details: StatusDetails): StatusDetails {
  return {
    ...(details.name ? { name: details.name } : {}),
    ...(details.group ? { group: details.group } : {}),
    ...(details.kind ? { kind: details.kind } : {}),
    ...(details.uid ? { uid: details.uid } : {}),
    ...(details.causes && details.causes.length > 0 ? { causes: details.causes } : {}),
    ...(details.retryAfterSeconds ? { retryAfterSeconds: details.retryAfterSeconds } : {}),
  };
}

const about = ({ group, resource }: GroupResource, name: string): StatusDetails => ({ name, group, kind: resource });

export const notFound = (resource: GroupResource, name: string): StatusError =>
  new StatusError(404, 'NotFound', `${groupResourceText(resource)} ${goQuote(name)} not found`, about(resource, name));

/** The answer for a path nothing is served at. */
export const noSuchPath = (): StatusError =>
  new StatusError(404, 'NotFound', 'the server could not find the requested resource', {});

export const alreadyExists = (resource: GroupResource, name: string): StatusError =>
  new StatusError(
    409,
    'AlreadyExists',
    `${groupResourceText(resource)} ${goQuote(name)} already exists`,
    about(resource, name),
  );

export const generateNameConflict = (resource: GroupResource, name: string, retryAfterSeconds: number): StatusError =>
  new StatusError(
    409,
    'AlreadyExists',
    `${groupResourceText(resource)} ${goQuote(name)} already exists, the server was not able to generate a unique name for the object`,
    { ...about(resource, name), retryAfterSeconds },
  );

export const unauthorized = (message = 'not authorized'): StatusError => new StatusError(401, 'Unauthorized', message);

/** `name` is empty for a request on the whole collection. */
export function forbidden(resource: GroupResource, name: string, why: string): StatusError {
  const text = groupResourceText(resource);
  let message: string;
  if (text === '') message = `forbidden: ${why}`;
  else if (name === '') message = `${text} is forbidden: ${why}`;
  else message = `${text} ${goQuote(name)} is forbidden: ${why}`;
  return new StatusError(403, 'Forbidden', message, about(resource, name));
}

export const conflict = (resource: GroupResource, name: string, why: string): StatusError =>
  new StatusError(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${groupResourceText(resource)} ${goQuote(name)}: ${why}`,
    about(resource, name),
  );

export const STALE_OBJECT =
  'the object has been modified; please apply your changes to the latest version and try again';

export const applyConflict = (message: string, causes: readonly StatusCause[]): StatusError =>
  new StatusError(409, 'Conflict', message, { causes });

export const expired = (message: string): StatusError => new StatusError(410, 'Expired', message);

/** Nobody reads more, and an answer is not to be a hundred times as long as what it refuses. */
const MAX_CAUSES = 10_000;
const MAX_CAUSES_LENGTH = 4 * 1024 * 1024;

export function invalid(kind: GroupKind, name: string, errors: readonly FieldError[]): StatusError {
  const head = `${groupKindText(kind)} ${goQuote(name)} is invalid`;
  const reported = errors.slice(0, limitCauses(errors));
  const message = reported.length === 0 ? head : `${head}: ${aggregateText(reported.map(fieldErrorText))}`;
  return new StatusError(422, 'Invalid', message, {
    name,
    group: kind.group,
    kind: kind.kind,
    causes: reported.map((error) => ({ reason: error.type, message: error.body, field: error.field })),
  });
}

/** The first is reported whatever its length. */
function limitCauses(errors: readonly FieldError[]): number {
  let characters = 0;
  for (const [position, { body, field }] of errors.entries()) {
    characters += body.length + field.length;
    if (position > 0 && (position === MAX_CAUSES || characters > MAX_CAUSES_LENGTH)) return position;
  }
  return errors.length;
}

export const badRequest = (message: string): StatusError => new StatusError(400, 'BadRequest', message);

/** A body that could not be read to its end. */
export const brokenBody = (message: string): StatusError => new StatusError(500, '', message);

/** The answer for a method that a path is not served with. */
export const wrongMethod = (): StatusError =>
  new StatusError(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {});

export const methodNotAllowed = (resource: GroupResource, action: string): StatusError =>
  new StatusError(
    405,
    'MethodNotAllowed',
    `${action} is not supported on resources of kind ${goQuote(groupResourceText(resource))}`,
    { group: resource.group, kind: resource.resource },
  );

export const notAcceptable = (supported: readonly string[]): StatusError =>
  new StatusError(406, 'NotAcceptable', `only the following media types are accepted: ${supported.join(', ')}`);

export const unsupportedMediaType = (supported: readonly string[]): StatusError =>
  new StatusError(
    415,
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${supported.join(', ')}`,
  );

/** No route of the path accepts the media type of the body. */
export const wrongMediaType = (): StatusError =>
  new RouteRefusal(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {});

export const internalError = (message: string): StatusError =>
  new StatusError(500, 'InternalError', `Internal error occurred: ${message}`, { causes: [{ message }] });

export const timeout = (message: string, retryAfterSeconds = 0): StatusError =>
  new StatusError(504, 'Timeout', `Timeout: ${message}`, { retryAfterSeconds });

export const tooManyRequests = (message: string, retryAfterSeconds: number): StatusError =>
  new StatusError(429, 'TooManyRequests', message, { retryAfterSeconds });

export const requestEntityTooLarge = (message: string): StatusError =>
  new StatusError(413, 'RequestEntityTooLarge', `Request entity too large: ${message}`);

export const serviceUnavailable = (message: string): StatusError => new StatusError(503, 'ServiceUnavailable', message);

/** The Status for a server that answered with a status code and no usable body. `message` is its own. */
export function genericResponse(code: number, resource: GroupResource, name: string, message: string): StatusError {
  const [reason, text] = GENERIC.get(code) ?? (code >= 500 ? serverError(message) : unknownAnswer(code));
  // Two spaces: the verb that would stand between them is not known.
  const whole = `${text === '' ? message : text} ( ${groupResourceText(resource)} ${name})`;
  return new StatusError(code, reason, whole, about(resource, name));
}

/** An empty text: the server's own words say more. */
const GENERIC: ReadonlyMap<number, readonly [string, string]> = new Map([
  [409, ['Conflict', 'the server reported a conflict']],
  [404, ['NotFound', 'the server could not find the requested resource']],
  [400, ['BadRequest', 'the server rejected our request for an unknown reason']],
  [401, ['Unauthorized', 'the server has asked for the client to provide credentials']],
  [403, ['Forbidden', '']],
  [406, ['NotAcceptable', '']],
  [415, ['UnsupportedMediaType', '']],
  [405, ['MethodNotAllowed', 'the server does not allow this method on the requested resource']],
  [422, ['Invalid', 'the server rejected our request due to an error in our request']],
  [503, ['ServiceUnavailable', 'the server is currently unable to handle the request']],
  [
    504,
    [
      'Timeout',
      'the server was unable to return a response in the time allotted, but may still be processing the request',
    ],
  ],
  [429, ['TooManyRequests', 'the server has received too many requests and has asked us to try again later']],
]);

const serverError = (message: string): readonly [string, string] => [
  'InternalError',
  `an error on the server (${goQuote(message)}) has prevented the request from succeeding`,
];

const unknownAnswer = (code: number): readonly [string, string] => [
  '',
  `the server responded with the status code ${code} but did not return more information`,
];
