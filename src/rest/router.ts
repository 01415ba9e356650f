// From a request's words to the verb that answers it.
import type { HttpResponse } from '../lib/http.js';
import type { MaybePromise } from '../lib/maybe-promise.js';
import { methodNotAllowed, noSuchPath, notFound, StatusError, wrongMethod } from '../machinery/status.js';
import type { Verb } from '../registry/kind.js';
import { connect } from './connect.js';
import { createObject } from './create.js';
import { removeCollection, removeObject } from './delete.js';
import type { Endpoint } from './endpoint.js';
import { getObject } from './get.js';
import { listObjects } from './list.js';
import { customMediaTypes } from './media-types.js';
import { patchObject } from './patch.js';
import { listOptions } from './query-options.js';
import type { RestRequest } from './request.js';
import { pageNotFound } from './page-not-found.js';
import { respondError } from './respond.js';
import { getScale, patchScale, updateScale } from './scale.js';
import type { RestServices } from './services.js';
import { createSubresource } from './create-subresource.js';
import { updateObject } from './update.js';
import { watchObjects } from './watch.js';

/** Finds the endpoint of a group, version and resource; built-in and custom alike. */
export type FindEndpoint = (group: string, version: string, resource: string) => Endpoint | undefined;

export interface Router {
  handle(request: RestRequest): MaybePromise<HttpResponse>;
}

/**
 * Built-in groups tell as a Status that they have no such resource; of other groups nobody knows whether they exist at
 * all, so what they do not serve is a page that was not found.
 */
export function createRouter(
  services: RestServices,
  find: FindEndpoint,
  isBuiltIn: (group: string) => boolean = () => true,
): Router {
  const custom: RestServices = { ...services, mediaTypes: customMediaTypes(services.mediaTypes) };
  return {
    handle(request) {
      const refuse = (error: unknown): HttpResponse => {
        if (error instanceof NothingThere) return pageNotFound();
        if (error instanceof StatusError) return respondError(request.http, error, services.mediaTypes);
        throw error;
      };
      try {
        const { apiGroup, apiVersion, resource } = request.info;
        const endpoint = find(apiGroup, apiVersion, resource);
        if (endpoint === undefined) throw isBuiltIn(apiGroup) ? noSuchPath() : new NothingThere();
        const answer = dispatch(endpoint.definition.custom ? custom : services, endpoint, request);
        return answer instanceof Promise ? answer.catch(refuse) : answer;
      } catch (error) {
        return refuse(error);
      }
    },
  };
}

class NothingThere extends Error {}

const nothingAt = ({ definition }: Endpoint): Error => (definition.custom ? new NothingThere() : noSuchPath());

const ALL_VERBS: readonly Verb[] = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];

function dispatch(services: RestServices, endpoint: Endpoint, request: RestRequest): MaybePromise<HttpResponse> {
  const { definition } = endpoint;
  const { info } = request;
  if (!definition.namespaced && info.namespace !== '' && definition.plural !== 'namespaces') throw nothingAt(endpoint);
  if (info.subresource !== '') return dispatchSubresource(services, endpoint, request);
  if (info.parts.length > 2) throw nothingAt(endpoint);
  const ofOne = info.parts.length === 2;
  const method = methodOf(endpoint, request);
  if (definition.namespaced && info.namespace === '' && (ofOne || method !== 'GET')) {
    throw ofOne || definition.custom ? nothingAt(endpoint) : wrongMethod();
  }
  const verb = verbOf(request, method, ofOne);
  if (verb === undefined || !(definition.verbs ?? ALL_VERBS).includes(verb)) throw refusedMethod(endpoint, request);
  warnIfDeprecated(endpoint, request);
  switch (verb) {
    case 'get':
      return getObject(services, endpoint, request);
    case 'list':
    case 'watch': {
      const options = listOptions(request.http.query, isWatchPath(request));
      return options.watch
        ? watchObjects(services, endpoint, request, options)
        : listObjects(services, endpoint, request, options);
    }
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

/** A use of what is not there is no use of a deprecated version. */
function warnIfDeprecated({ version }: Endpoint, request: RestRequest): void {
  if (version.deprecationWarning !== undefined) request.warn(version.deprecationWarning);
}

/** The handler of custom resources goes by verbs, and a HEAD has the verb of a GET. Others know only their methods. */
const methodOf = ({ definition }: Endpoint, { http }: RestRequest): string =>
  http.method === 'HEAD' && definition.custom ? 'GET' : http.method;

/** What a method means on a collection or on one object. */
function verbOf(request: RestRequest, method: string, ofOne: boolean): Verb | undefined {
  switch (method) {
    case 'GET':
      return isWatchPath(request) ? 'watch' : ofOne ? 'get' : 'list';
    case 'POST':
      return ofOne ? undefined : 'create';
    case 'PUT':
      return ofOne ? 'update' : undefined;
    case 'PATCH':
      return ofOne ? 'patch' : undefined;
    case 'DELETE':
      return ofOne ? 'delete' : 'deletecollection';
    default:
      return undefined;
  }
}

/** The deprecated /watch/ paths. */
const isWatchPath = ({ info }: RestRequest): boolean =>
  info.verb === 'watch' &&
  info.path.startsWith(`/${info.apiPrefix}/`) &&
  /^\/(api\/[^/]+|apis\/[^/]+\/[^/]+)\/watch\//.test(info.path);

function dispatchSubresource(
  services: RestServices,
  endpoint: Endpoint,
  request: RestRequest,
): MaybePromise<HttpResponse> {
  const { definition } = endpoint;
  const { info, http } = request;
  const name = info.subresource;
  const subresource = definition.subresources?.[name];
  const known = subresource !== undefined || (name === 'status' && definition.strategy.status !== undefined);
  const misplaced = definition.namespaced && info.namespace === '';
  if (!known && definition.custom && !misplaced) throw notFound(endpoint.registry.resource, info.name);
  if (!known || misplaced) throw nothingAt(endpoint);
  if (subresource?.connect !== undefined) return connect(services, endpoint, request, subresource.connect);
  if (info.parts.length > 3) throw nothingAt(endpoint);
  const verbs: readonly Verb[] = subresource?.verbs ?? ['get', 'patch', 'update'];
  const verb = http.method === 'POST' ? 'create' : verbOf(request, methodOf(endpoint, request), true);
  if (verb === undefined || !verbs.includes(verb)) throw refusedMethod(endpoint, request);
  warnIfDeprecated(endpoint, request);
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

/** Custom resources are served by a handler of their own, with words of its own. */
const refusedMethod = ({ definition, registry }: Endpoint, { info }: RestRequest): StatusError =>
  definition.custom ? methodNotAllowed(registry.resource, info.verb) : wrongMethod();
