// What a request wants, read from its method, path and query.
//
//   /api/v1/namespaces/{ns}/{resource}/{name}/{subresource}      core group
//   /apis/{group}/{version}/namespaces/{ns}/{resource}/...       named groups
//   /api/v1/watch/...                                            the old form of ?watch=true
//
// Every other path is for no resource, and its verb is the method.
import { BoundedMap } from '../lib/values/bounded-map.js';
import type { HttpRequest } from '../lib/http/http.js';
import { decodePath } from '../lib/http/request-target.js';
import { parseFieldSelector } from '../machinery/field-selector.js';
import { parseLabelSelector } from '../machinery/label-selector.js';
import { SelectorError } from '../machinery/label-requirement.js';
import type { RequestInfo } from '../machinery/request-info.js';
import type { Filter } from './exchange.js';
import { isLongRunning } from './long-running.js';
import { internalServerError, plainError } from './plain-response.js';

export const requestInfo: Filter = (exchange, next) => {
  const info = parseRequestInfo(exchange.request);
  if (info === undefined) return plainError(400, '400 Bad Request');
  if (info === NO_KIND) {
    const uri = uriOf(exchange.request);
    return internalServerError(
      uri,
      `failed to create RequestInfo: unable to determine kind and namespace from url, ${uri}`,
    );
  }
  exchange.info = info;
  exchange.longRunning = isLongRunning(info);
  return next(exchange);
};

export const uriOf = (request: HttpRequest): string =>
  request.search === '' ? request.path : `${request.path}?${request.search}`;

const NO_KIND = 'no kind';
const NONE: readonly string[] = [];

/** Clients repeat the same few requests. Longer paths, and those with a query, are parsed each time. */
const MAX_MEMOIZED = 1024;
const MAX_MEMOIZED_LENGTH = 256;
const memoizedInfos = new Map<string, BoundedMap<string, RequestInfo>>();

/** `undefined` when the path is not well-formed. */
// hot: once for each request.
export function parseRequestInfo(request: HttpRequest): RequestInfo | undefined | typeof NO_KIND {
  if (request.search !== '' || request.path.length > MAX_MEMOIZED_LENGTH) return readRequestInfo(request);
  const known = memoizedInfos.get(request.method)?.get(request.path);
  if (known !== undefined) return known;
  const info = readRequestInfo(request);
  if (typeof info === 'object') memoize(request, info);
  return info;
}

function memoize({ method, path }: HttpRequest, info: RequestInfo): void {
  if (!VERBS.has(method)) return;
  let paths = memoizedInfos.get(method);
  if (paths === undefined) memoizedInfos.set(method, (paths = new BoundedMap(MAX_MEMOIZED)));
  paths.set(path, info);
}

function readRequestInfo(request: HttpRequest): RequestInfo | undefined | typeof NO_KIND {
  const path = decodePath(request.path);
  if (path === undefined) return undefined;
  const parts = splitPath(path);
  const apiPrefix = parts[0] ?? '';
  if (parts.length < 3 || (apiPrefix !== 'api' && apiPrefix !== 'apis')) return notForResource(request, path, '');
  const grouped = apiPrefix === 'apis';
  if (grouped && parts.length < 4) return notForResource(request, path, apiPrefix);

  let at = grouped ? 2 : 1;
  const apiGroup = grouped ? (parts[1] ?? '') : '';
  const apiVersion = parts[at++] ?? '';
  let verb: string;
  const verbInPath = parts[at] === 'watch' || parts[at] === 'proxy';
  if (verbInPath) {
    if (parts.length - at < 2) return NO_KIND;
    verb = parts[at++] ?? '';
  } else {
    verb = VERBS.get(request.method) ?? '';
  }

  let namespace = '';
  if (parts[at] === 'namespaces' && parts.length - at > 1) {
    namespace = parts[at + 1] ?? '';
    const third = parts[at + 2];
    // A namespace's own subresources stay with the namespace; anything else is a resource inside it.
    if (third !== undefined && third !== 'status' && third !== 'finalize') at += 2;
  }
  const rest = parts.slice(at);
  let name = rest[1] ?? '';
  const subresource = verb === 'proxy' ? '' : (rest[2] ?? '');
  const hasQuery = request.search !== '';
  if (name === '' && verb === 'get') {
    verb = hasQuery && isWatch(request.query) ? 'watch' : 'list';
    if (hasQuery) name = nameInSelector(request.query);
  }
  if (name === '' && verb === 'delete') verb = 'deletecollection';
  const selectable = hasQuery && !verbInPath && (verb === 'list' || verb === 'watch' || verb === 'deletecollection');
  return {
    isResourceRequest: true,
    path,
    verb,
    verbInPath,
    usualMethod: verbInPath ? request.method === 'GET' : request.method !== 'HEAD',
    apiPrefix,
    apiGroup,
    apiVersion,
    namespace,
    resource: rest[0] ?? '',
    subresource,
    name,
    parts: rest,
    fieldSelector: selectable ? (request.query.get('fieldSelector') ?? '') : '',
    labelSelector: selectable ? (request.query.get('labelSelector') ?? '') : '',
  };
}

const VERBS: ReadonlyMap<string, string> = new Map([
  ['POST', 'create'],
  ['GET', 'get'],
  ['HEAD', 'get'],
  ['PUT', 'update'],
  ['PATCH', 'patch'],
  ['DELETE', 'delete'],
]);

const notForResource = (request: HttpRequest, path: string, apiPrefix: string): RequestInfo => ({
  isResourceRequest: false,
  path,
  verb: request.method.toLowerCase(),
  verbInPath: false,
  usualMethod: true,
  apiPrefix,
  apiGroup: '',
  apiVersion: '',
  namespace: '',
  resource: '',
  subresource: '',
  name: '',
  parts: NONE,
  fieldSelector: '',
  labelSelector: '',
});

// hot: every path that is new. What JavaScript calls to split a text touches five times as much as this loop.
function splitPath(path: string): readonly string[] {
  let start = 0;
  let end = path.length;
  while (start < end && path.charCodeAt(start) === 0x2f) start++;
  while (end > start && path.charCodeAt(end - 1) === 0x2f) end--;
  if (start === end) return NONE;
  const parts: string[] = [];
  for (let at = start; at < end; at++) {
    if (path.charCodeAt(at) !== 0x2f) continue;
    parts.push(path.slice(start, at));
    start = at + 1;
  }
  parts.push(path.slice(start, end));
  return parts;
}

/** Only an absent value, `0` and `false` mean no. */
function isWatch(query: URLSearchParams): boolean {
  const value = query.get('watch');
  return value !== null && value !== '0' && value.toLowerCase() !== 'false';
}

/** A list of one named object is authorized as a request for that name, unless its options are not well-formed. */
function nameInSelector(query: URLSearchParams): string {
  const text = query.get('fieldSelector');
  if (text === null || !isInteger(query.get('limit')) || !isInteger(query.get('timeoutSeconds'))) return '';
  try {
    parseLabelSelector(query.get('labelSelector') ?? '');
    const name = parseFieldSelector(text).requiresExactMatch('metadata.name') ?? '';
    return name === '.' || name === '..' || /[/%]/.test(name) ? '' : name;
  } catch (error) {
    if (error instanceof SelectorError) return '';
    throw error;
  }
}

const isInteger = (text: string | null): boolean => text === null || text === '' || /^[+-]?\d+$/.test(text);
