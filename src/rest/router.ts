// From a request's words to the verb that answers it.
import type { HttpResponse } from '../lib/http/http.js';
import { ownMember } from '../lib/values/plain-object.js';
import { type MaybePromise, whenReady } from '../lib/async/maybe-promise.js';
import { trimEnd } from '../lib/text/trim-end.js';
import type { RequestInfo } from '../machinery/request-info.js';
import { badRequest, methodNotAllowed, noSuchPath, notFound, StatusError, wrongMethod } from '../machinery/status.js';
import type { Subresource, Verb } from '../registry/kind.js';
import { connect } from './nodes/connect.js';
import { createObject } from './verbs/create.js';
import { removeCollection, removeObject } from './verbs/delete.js';
import type { Endpoint } from './contract/endpoint.js';
import { getObject } from './verbs/get.js';
import { listObjects } from './verbs/list.js';
import { customMediaTypes } from './wire/media-types.js';
import { OF_LISTS, requireAcceptable } from './wire/negotiate.js';
import { patchKind, patchObject } from './verbs/patch.js';
import { recordAnswer, recordVerb } from './contract/record-verb.js';
import { type ListOptions, listOptions } from './contract/query-options.js';
import type { RestRequest } from './contract/request.js';
import { namespaceless, requireNamespace } from './body/require-namespace.js';
import { pageNotFound } from './contract/page-not-found.js';
import { respondError, respondEncoded } from './answer/respond.js';
import { getScale, patchScale, updateScale } from './verbs/scale.js';
import { fromStorage } from '../registry/storage-status.js';
import type { RestServices } from './contract/services.js';
import { createSubresource } from './verbs/create-subresource.js';
import { updateObject } from './verbs/update.js';
import { watchObjects } from './watch/watch.js';

/** Finds the endpoint of a group, version and resource; built-in and custom alike. */
export type FindEndpoint = (group: string, version: string, resource: string) => Endpoint | undefined;

export interface Router {
  handle(request: RestRequest): MaybePromise<HttpResponse>;
}

/**
 * Built-in groups answer with a Status that they have no such resource; of other groups nobody knows whether they exist
 * at all, so what they do not serve is a page that was not found.
 */
export function createRouter(
  services: RestServices,
  find: FindEndpoint,
  isBuiltIn: (group: string) => boolean = () => true,
): Router {
  const custom: RestServices = { ...services, mediaTypes: customMediaTypes(services.mediaTypes) };
  return {
    handle(request) {
      const refuse = (thrown: unknown): Answer => {
        const { info } = request;
        // Bytes that were left to the store are read as they are sent: what was wrong with them is found only then.
        const error = fromStorage(thrown, { group: info.apiGroup, resource: info.resource }, info.name);
        if (error instanceof NothingThere) return pageNotFound();
        if (!(error instanceof StatusError)) throw error;
        const { mediaTypes, converter } = services;
        if (error.encoded === undefined) return respondError(request.http, error, mediaTypes);
        return respondEncoded({ request: request.http, converter }, error, error.encoded, mediaTypes);
      };
      const above = request.trace?.span;
      // What is refused inside a verb is recorded there.
      const refuseOutside = (error: unknown): Answer => {
        const refusal = refuse(error);
        return above === undefined ? refusal : whenReady(refusal, (answer) => recordAnswer(above, request, answer));
      };
      try {
        const { apiGroup, apiVersion, resource } = request.info;
        if (!isRooted(request.info)) return pageNotFound();
        const endpoint = find(apiGroup, apiVersion, resource);
        if (endpoint === undefined) throw isBuiltIn(apiGroup) ? noSuchPath() : new NothingThere();
        const answer = dispatch(endpoint.definition.custom ? custom : services, endpoint, request, refuse);
        return answer instanceof Promise ? answer.catch(refuseOutside) : answer;
      } catch (error) {
        return refuseOutside(error);
      }
    },
  };
}

/** More slashes than one before the API, or a group without a name, are not what they look like. */
const isRooted = ({ path, apiPrefix, apiGroup }: RequestInfo): boolean =>
  path.startsWith(apiPrefix, 1) && (apiPrefix === 'api' || apiGroup !== '');

class NothingThere extends Error {}

const nothingAt = ({ definition }: Endpoint): Error => (definition.custom ? new NothingThere() : noSuchPath());

const ALL_VERBS: readonly Verb[] = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];

type Answer = MaybePromise<HttpResponse>;

function dispatch(
  services: RestServices,
  endpoint: Endpoint,
  request: RestRequest,
  refuse: (error: unknown) => Answer,
): Answer {
  const { definition } = endpoint;
  const { info } = request;
  if (!definition.namespaced && info.namespace !== '' && !isNamespaceItself(info)) throw nothingAt(endpoint);
  if (!definition.namespaced && !definition.custom && isInNamelessNamespace(info)) throw noSuchPath();
  if (info.subresource !== '') return dispatchSubresource(services, endpoint, request, refuse);
  if (info.parts.length > 2) throw nothingAt(endpoint);
  const verb = servedVerb(endpoint, info);
  recordServed(services, endpoint, request, verb);
  const span = request.trace?.span;
  if (span === undefined) return serve(verb, services, endpoint, request);
  return recordVerb(span, { verb, request, run: () => serve(verb, services, endpoint, request), refuse });
}

/** `/namespaces/x` is the namespace and lies in it; `/namespaces/x/namespaces` is nothing. */
function isNamespaceItself({ resource, path, apiPrefix, apiVersion, verbInPath, verb, parts }: RequestInfo): boolean {
  const watched = verbInPath ? `${verb}/` : '';
  return resource === 'namespaces' && trimEnd(path, '/') === `/${apiPrefix}/${apiVersion}/${watched}${parts.join('/')}`;
}

function serve(verb: Verb, services: RestServices, endpoint: Endpoint, request: RestRequest): Answer {
  if (OF_ONE.has(verb) && request.info.parts.length < 2) {
    // In what form it comes is looked at before whom it is for.
    if (verb === 'patch') patchKind(request.http, endpoint, services.mediaTypes);
    throw nameless();
  }
  if (verb === 'get') requireNamespace(endpoint, request.info);
  switch (verb) {
    case 'get':
      return getObject(services, endpoint, request);
    case 'list':
      return listObjects(services, endpoint, request, acceptedListOptions(services, request, false));
    case 'watch':
      return watchObjects(services, endpoint, request, acceptedListOptions(services, request, true));
    case 'create':
      return createObject(services, endpoint, request);
    case 'update':
      return updateObject(services, endpoint, request);
    case 'patch':
      return patchObject(services, endpoint, request);
    case 'delete':
      return removeObject(services, endpoint, request);
    case 'deletecollection':
      return removeCollection(services, endpoint, request);
  }
}

/** A client that accepts no form of a list is refused first, whatever else is wrong with the request. */
function acceptedListOptions(
  { features, mediaTypes }: RestServices,
  { http }: RestRequest,
  watch: boolean,
): ListOptions {
  try {
    return listOptions(http.query, watch, features.enabled('WatchList'));
  } catch (error) {
    requireAcceptable(http, mediaTypes, OF_LISTS);
    throw error;
  }
}

/** A use of what is not there is none, of a deprecated version neither; nor is one whose answer nobody could read. */
function recordServed(
  { mediaTypes }: RestServices,
  { definition, version }: Endpoint,
  request: RestRequest,
  verb: Verb,
): void {
  request.served?.(definition.custom ? 'custom resource' : 'resource');
  const { deprecationWarning, removedRelease = '' } = version;
  if (deprecationWarning === undefined) return;
  requireAcceptable(request.http, mediaTypes, verb === 'list' || verb === 'watch' ? OF_LISTS : undefined);
  request.warn(deprecationWarning);
  request.deprecated?.(removedRelease);
  request.trail?.annotateAtEnd('k8s.io/deprecated', 'true');
  if (removedRelease !== '') request.trail?.annotateAtEnd('k8s.io/removed-release', removedRelease);
}

/** What is done is what was authorized: the verb of the request, where the kind has it for this path, or nothing. */
function servedVerb(endpoint: Endpoint, info: RequestInfo): Verb {
  const { definition } = endpoint;
  const verbs = definition.verbs ?? ALL_VERBS;
  // A kind that can only be listed says itself that it cannot be watched.
  const unwatched = info.verb === 'watch' && !info.verbInPath && verbs.includes('list');
  const verb = unwatched ? 'watch' : verbs.find((known) => known === info.verb);
  const ofOne = info.parts.length === 2;
  const nowhere = definition.namespaced && info.namespace === '';
  const reads = info.verb === 'list' || info.verb === 'watch';
  const writesMany = info.verb === 'deletecollection' || info.verb === 'create';
  const ofNoNamespace = isNamespaceEmpty(endpoint, info) && (ofOne || writesMany);
  // Custom resources are served by verb alone.
  if (definition.custom) {
    if (nowhere && !reads) throw nothingAt(endpoint);
    if (verb === undefined) throw refusedMethod(endpoint, info);
    return verb;
  }
  // Built-in ones have routes: a path, and the methods it knows.
  if (info.verbInPath && verb !== 'watch') throw noSuchPath();
  if (nowhere && !ofNoNamespace && (ofOne || !verbs.includes('list'))) throw noSuchPath();
  if (ofOne && !verbs.some((known) => OF_ONE.has(known))) throw noSuchPath();
  if (verb === undefined || !info.usualMethod || (nowhere && !reads && !ofNoNamespace)) throw wrongMethod();
  if (verb === 'create' ? ofOne : !ofOne && OF_ONE.has(verb)) throw wrongMethod();
  if (ofNoNamespace && !LOOKED_AT_FIRST.has(verb)) throw namespaceless();
  return verb;
}

/** The bodies of these verbs are checked before a missing namespace, and their use is recorded. */
const LOOKED_AT_FIRST: ReadonlySet<Verb> = new Set(['create', 'update', 'patch', 'delete', 'get']);

/** `/api/v1/namespaces//pods/a`: the path of a pod, in a namespace without a name. */
const isNamespaceEmpty = ({ definition }: Endpoint, info: RequestInfo): boolean =>
  definition.namespaced && info.namespace === '' && !definition.custom && isInNamelessNamespace(info);

const isInNamelessNamespace = ({ path, parts }: RequestInfo): boolean =>
  path.includes('/namespaces//') && trimEnd(path, '/').endsWith(`/namespaces//${parts.join('/')}`);

/** Verbs that name an object. A watch may. */
const OF_ONE: ReadonlySet<Verb> = new Set(['get', 'update', 'patch', 'delete']);

const nameless = (): StatusError => badRequest('name must be provided');

function dispatchSubresource(
  services: RestServices,
  endpoint: Endpoint,
  request: RestRequest,
  refuse: (error: unknown) => Answer,
): Answer {
  const { definition } = endpoint;
  const { info } = request;
  const name = info.subresource;
  const subresource = ownMember(definition.subresources, name);
  const known = subresource !== undefined || (name === 'status' && definition.strategy.status !== undefined);
  const ofNoNamespace = isNamespaceEmpty(endpoint, info);
  const misplaced = definition.namespaced && info.namespace === '' && !ofNoNamespace;
  if (!known && definition.custom && !misplaced) {
    // kube-apiserver looks for what lies below an object last.
    const { deprecationWarning } = endpoint.version;
    if (deprecationWarning !== undefined) request.warn(deprecationWarning);
    throw notFound(endpoint.registry.resource, info.name);
  }
  if (!known || misplaced || (info.verbInPath && !definition.custom)) throw nothingAt(endpoint);
  // Whatever follows a proxy is for the other side; of anything else there is nothing further down.
  if (info.parts.length > 3 && name !== 'proxy') throw nothingAt(endpoint);
  if (subresource?.connect !== undefined) {
    checkConnection(subresource, request);
    if (ofNoNamespace) throw namespaceless();
    request.served?.('resource');
    const { connect: connector } = subresource;
    const run = (): Answer => connect(services, endpoint, request, connector);
    const span = request.trace?.span;
    // A log is got, as an object is.
    return span === undefined || name !== 'log' ? run() : recordVerb(span, { verb: 'get', request, run, refuse });
  }
  const verbs: readonly Verb[] = subresource?.verbs ?? ['get', 'patch', 'update'];
  // Without a name it is a list that was authorized, and of a subresource there is none.
  if (info.name === '' && info.verb === 'list') throw nameless();
  const verb = verbs.find((one) => one === info.verb);
  if (verb === undefined || (!info.usualMethod && !definition.custom)) throw refusedMethod(endpoint, info);
  if (info.name === '' || ofNoNamespace) {
    if (verb === 'patch') patchKind(request.http, endpoint, services.mediaTypes);
    throw info.name === '' ? nameless() : namespaceless();
  }
  recordServed(services, endpoint, request, verb);
  const run = (): Answer => serveSubresource({ verb, services, endpoint, request, subresource });
  const span = request.trace?.span;
  return span === undefined ? run() : recordVerb(span, { verb, request, run, refuse });
}

interface SubresourceCall {
  readonly verb: Verb;
  readonly services: RestServices;
  readonly endpoint: Endpoint;
  readonly request: RestRequest;
  readonly subresource: Subresource | undefined;
}

function serveSubresource({ verb, services, endpoint, request, subresource }: SubresourceCall): Answer {
  if (subresource?.scale !== undefined) {
    const { scale } = subresource;
    if (verb === 'get') return getScale(services, endpoint, request, scale);
    return verb === 'patch'
      ? patchScale(services, endpoint, request, scale)
      : updateScale(services, endpoint, request, scale);
  }
  switch (verb) {
    case 'get':
      return getObject(services, endpoint, request);
    case 'update':
      return updateObject(services, endpoint, request);
    case 'patch':
      return patchObject(services, endpoint, request);
    case 'create':
      if (subresource?.create === undefined) throw wrongMethod();
      return createSubresource(services, endpoint, request, subresource);
    default:
      throw wrongMethod();
  }
}

/** What a proxy hands on to the other side, under the verb that was authorized for it. */
const PROXIED: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

function checkConnection({ verbs }: Subresource, { info, http }: RestRequest): void {
  const served =
    info.subresource === 'proxy'
      ? PROXIED.has(http.method)
      : info.usualMethod && (info.verb === 'list' || verbs.some((verb) => verb === info.verb));
  if (!served) throw wrongMethod();
  if (info.name === '') throw nameless();
}

/** Custom resources are served by a handler of their own, with words of its own. */
const refusedMethod = ({ definition, registry }: Endpoint, { verb }: RequestInfo): StatusError =>
  definition.custom ? methodNotAllowed(registry.resource, verb) : wrongMethod();
