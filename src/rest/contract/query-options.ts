// The options of each verb, from the query, checked as a whole.
import { append } from '../../lib/values/append.js';
import {
  type FieldErrors,
  FieldPath,
  forbidden,
  invalid as invalidField,
  notSupported,
  required,
  tooLong,
  plainNotSupported,
} from '../../machinery/field-error.js';
import type { HttpRequest } from '../../lib/http/http.js';
import { parseInt64, SyntaxMistake } from '../../lib/go/strconv.js';
import { badRequest, invalid } from '../../machinery/status.js';
import { dryRunErrors, UNSAFE_DELETE } from '../../registry/delete-options.js';
import type { DeleteOptions } from '../../registry/kind.js';
import type { ResourceVersionMatch } from '../../storage/store.js';
import { type SentSelectors, sentSelectors } from './sent-selectors.js';

export type FieldValidation = 'Ignore' | 'Warn' | 'Strict';

export interface WriteOptions {
  readonly dryRun: boolean;
  readonly fieldManager: string;
  readonly fieldValidation: FieldValidation;
  /** As the query has it, which is what admission is shown: empty where the default holds. */
  readonly sentFieldValidation: FieldValidation | '';
}

export interface PatchOptions extends WriteOptions {
  readonly force: boolean;
}

export interface ListOptions extends SentSelectors {
  readonly labelSelector: string;
  readonly fieldSelector: string;
  readonly allowWatchBookmarks: boolean;
  readonly resourceVersion: string;
  readonly resourceVersionMatch: ResourceVersionMatch;
  readonly timeoutSeconds?: number;
  readonly limit: number;
  readonly continue: string;
  readonly sendInitialEvents?: boolean;
}

const MAX_FIELD_MANAGER_BYTES = 128;
const FIELD_VALIDATIONS = ['', 'Ignore', 'Strict', 'Warn'];

/** What a write without a query has. */
const NO_OPTIONS: WriteOptions = { dryRun: false, fieldManager: '', fieldValidation: 'Warn', sentFieldValidation: '' };

type Query = Pick<HttpRequest, 'search' | 'query'>;

export const createOptions = (http: Query): WriteOptions =>
  http.search === '' ? NO_OPTIONS : writeOptions(http.query, 'CreateOptions');
export const updateOptions = (http: Query): WriteOptions =>
  http.search === '' ? NO_OPTIONS : writeOptions(http.query, 'UpdateOptions');

/** Of a patch without a query; one that applies has to name its manager. */
const NO_PATCH_OPTIONS: PatchOptions = { ...NO_OPTIONS, force: false };

export function patchOptions({ search, query }: Query, apply: boolean): PatchOptions {
  if (search === '' && !apply) return NO_PATCH_OPTIONS;
  const errors: FieldErrors = [];
  const force = flag(query, 'force');
  if (apply) {
    if (!query.get('fieldManager')) {
      errors.push(required(FieldPath.of('fieldManager'), 'is required for apply patch'));
    }
  } else if (force !== undefined) {
    errors.push(forbidden(FieldPath.of('force'), 'may not be specified for non-apply patch'));
  }
  return { ...writeOptions(query, 'PatchOptions', errors), force: force ?? false };
}

function writeOptions(query: URLSearchParams, kind: string, errors: FieldErrors = []): WriteOptions {
  const fieldManager = query.get('fieldManager') ?? '';
  const dryRun = query.getAll('dryRun');
  const sentFieldValidation = (query.get('fieldValidation') ?? '') as FieldValidation | '';
  append(errors, fieldManagerErrors(fieldManager), dryRunErrors(dryRun));
  if (!FIELD_VALIDATIONS.includes(sentFieldValidation)) {
    errors.push(plainNotSupported(FieldPath.of('fieldValidation'), sentFieldValidation, FIELD_VALIDATIONS));
  }
  refuse(kind, errors);
  const fieldValidation = sentFieldValidation || 'Warn';
  return { dryRun: dryRun.length > 0, fieldManager, fieldValidation, sentFieldValidation };
}

function fieldManagerErrors(manager: string): FieldErrors {
  const path = FieldPath.of('fieldManager');
  const errors: FieldErrors = [];
  if (Buffer.byteLength(manager) > MAX_FIELD_MANAGER_BYTES) errors.push(tooLong(path, MAX_FIELD_MANAGER_BYTES));
  let at = 0;
  for (const char of manager) {
    if (/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.test(char)) {
      const code = (char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
      errors.push(invalidField(path, manager, `invalid character U+${code} (at position ${at})`));
    }
    at += Buffer.byteLength(char);
  }
  return errors;
}

/** From the query, when a DELETE has no body. */
export function deleteOptionsFromQuery(query: URLSearchParams): DeleteOptions {
  const gracePeriodSeconds = integer(query, 'gracePeriodSeconds');
  const orphanDependents = flag(query, 'orphanDependents');
  const propagationPolicy = query.get('propagationPolicy') ?? undefined;
  const dryRun = query.getAll('dryRun');
  const unsafe = flag(query, UNSAFE_DELETE);
  const uid = query.get('uid') ?? '';
  const resourceVersion = query.get('resourceVersion') ?? '';
  const preconditions = { ...(uid !== '' && { uid }), ...(resourceVersion !== '' && { resourceVersion }) };
  return {
    ...(unsafe !== undefined && { [UNSAFE_DELETE]: unsafe }),
    ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
    ...(orphanDependents !== undefined && { orphanDependents }),
    ...(propagationPolicy !== undefined && { propagationPolicy }),
    ...(dryRun.length > 0 && { dryRun }),
    ...((uid !== '' || resourceVersion !== '') && { preconditions }),
  };
}

// hot: runs on every list and watch.
/** `watchList`: the gate of that name, without which no watch may request initial events. */
export function listOptions(query: URLSearchParams, watch: boolean, watchList = true): ListOptions {
  const sent = sentListOptions(query);
  const { resourceVersion } = sent;
  let { resourceVersionMatch: match, sendInitialEvents } = sent;
  // A watch by its path alone is checked as the list it would be.
  const watching = watch && flag(query, 'watch') === true;
  // From the beginning is with what is there first, as if both were said.
  if (watching && watchList && sendInitialEvents === undefined && match === '' && isLegacy(resourceVersion)) {
    sendInitialEvents = true;
    match = 'NotOlderThan';
  }
  const options = { ...sent, ...(sendInitialEvents !== undefined && { sendInitialEvents }) };
  const path = FieldPath.of('resourceVersionMatch');
  const errors: FieldErrors = [];
  if (watching) {
    watchErrors(errors, {
      path,
      match,
      continueToken: options.continue,
      initialEvents: { sendInitialEvents, watchList },
    });
  } else {
    listErrors(errors, { path, match, continueToken: options.continue, resourceVersion, sendInitialEvents });
  }
  // Parsed with the other options: their errors come before those of options that exclude each other.
  const selectors = sentSelectors(sent);
  refuse('ListOptions', errors);
  if (match !== 'Exact' && match !== 'NotOlderThan') match = '';
  return { ...options, ...selectors, resourceVersionMatch: match as ResourceVersionMatch };
}

export type SentListOptions = Omit<ListOptions, 'resourceVersionMatch' | keyof SentSelectors> & {
  readonly resourceVersionMatch: string;
};

/** What is said, whether or not it may be said together. Throws where a value is of another type. */
export function sentListOptions(query: URLSearchParams): SentListOptions {
  const timeoutSeconds = secondsOf(query, 'timeoutSeconds');
  const sendInitialEvents = flag(query, 'sendInitialEvents');
  return {
    labelSelector: query.get('labelSelector') ?? '',
    fieldSelector: query.get('fieldSelector') ?? '',
    allowWatchBookmarks: flag(query, 'allowWatchBookmarks') ?? false,
    resourceVersion: query.get('resourceVersion') ?? '',
    resourceVersionMatch: query.get('resourceVersionMatch') ?? '',
    limit: Math.max(0, integer(query, 'limit') ?? 0),
    continue: query.get('continue') ?? '',
    ...(timeoutSeconds !== undefined && { timeoutSeconds }),
    ...(sendInitialEvents !== undefined && { sendInitialEvents }),
  };
}

const isLegacy = (resourceVersion: string): boolean => resourceVersion === '' || resourceVersion === '0';

interface ListQuery {
  readonly path: FieldPath;
  readonly match: string;
  readonly continueToken: string;
  readonly resourceVersion: string;
  readonly sendInitialEvents: boolean | undefined;
}

function listErrors(
  errors: FieldErrors,
  { path, match, continueToken, resourceVersion, sendInitialEvents }: ListQuery,
): void {
  if (match !== '') {
    if (resourceVersion === '') {
      errors.push(forbidden(path, 'resourceVersionMatch is forbidden unless resourceVersion is provided'));
    }
    if (continueToken !== '') {
      errors.push(forbidden(path, 'resourceVersionMatch is forbidden when continue is provided'));
    }
    if (match !== 'Exact' && match !== 'NotOlderThan') {
      errors.push(notSupported(path, match, ['Exact', 'NotOlderThan', '']));
    }
    if (match === 'Exact' && resourceVersion === '0') {
      errors.push(forbidden(path, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'));
    }
  }
  if (sendInitialEvents !== undefined) {
    errors.push(forbidden(FieldPath.of('sendInitialEvents'), 'sendInitialEvents is forbidden for list'));
  }
}

interface WatchQuery {
  readonly path: FieldPath;
  readonly match: string;
  readonly continueToken: string;
  readonly initialEvents: { sendInitialEvents: boolean | undefined; watchList: boolean };
}

function watchErrors(
  errors: FieldErrors,
  { path, match, continueToken, initialEvents: { sendInitialEvents, watchList } }: WatchQuery,
): void {
  if (sendInitialEvents !== undefined && match !== 'NotOlderThan') {
    errors.push(forbidden(path, 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'));
  }
  if (sendInitialEvents !== undefined && !watchList) {
    const why = 'sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled';
    errors.push(forbidden(FieldPath.of('sendInitialEvents'), why));
  }
  if (match === '') return;
  if (sendInitialEvents === undefined) {
    errors.push(forbidden(path, 'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided'));
  }
  if (match !== 'NotOlderThan') errors.push(notSupported(path, match, ['NotOlderThan']));
  if (continueToken !== '') {
    errors.push(forbidden(path, 'resourceVersionMatch is forbidden when continue is provided'));
  }
}

function refuse(kind: string, errors: FieldErrors): void {
  if (errors.length > 0) throw invalid({ group: 'meta.k8s.io', kind }, '', errors);
}

/** A flag is set by its name alone; only `false` and `0` unset it. */
export function flag(query: URLSearchParams, name: string): boolean | undefined {
  const value = query.get(name);
  if (value === null) return undefined;
  return value.toLowerCase() !== 'false' && value !== '0';
}

function integer(query: URLSearchParams, name: string): number | undefined {
  const value = exactInteger(query, name);
  return value === undefined ? undefined : Number(value);
}

/** kube-apiserver counts in nanoseconds, of which 64 bits have no more than three hundred years: others go round. */
function secondsOf(query: URLSearchParams, name: string): number | undefined {
  const value = exactInteger(query, name);
  return value === undefined ? undefined : Number(BigInt.asIntN(64, value * NANOSECONDS)) / Number(NANOSECONDS);
}

const NANOSECONDS = 1_000_000_000n;

export function exactInteger(query: URLSearchParams, name: string): bigint | undefined {
  const value = query.get(name);
  if (value === null) return undefined;
  try {
    return parseInt64(value);
  } catch (error) {
    throw error instanceof SyntaxMistake ? badRequest(error.message) : error;
  }
}
