// What a request is called in metrics: its verb, and what served it.
import type { HttpRequest, HttpResponse } from '../lib/http/http.js';
import type { RequestInfo } from '../machinery/request-info.js';
import { requestScope } from '../machinery/request-scope.js';
import type { Exchange } from './exchange.js';

export const COMPONENT = 'apiserver';
const METHODS: ReadonlySet<string> = new Set(
  'APPLY CONNECT CREATE DELETE DELETECOLLECTION GET LIST PATCH POST PROXY PUT UPDATE WATCH WATCHLIST'.split(' '),
);

/** The labels `WHERE`, in their order. */
export type Where = readonly [
  group: string,
  version: string,
  resource: string,
  subresource: string,
  scope: string,
  component: string,
];
export const RESOURCE = 2;
export const SCOPE = 4;

export const whereOf = (info: RequestInfo, subresource: string, scope: string, component: string): Where => [
  info.apiGroup,
  info.apiVersion,
  info.resource,
  subresource,
  scope,
  component,
];

/** Undefined where nothing served the request, or something whose requests are not counted. */
export function servedWhere({ info, servedBy }: Exchange, response: HttpResponse): Where | undefined {
  switch (servedBy) {
    case undefined:
      return undefined;
    case 'path':
      return pathWhere(info.path, response);
    case 'resource':
      return whereOf(info, info.subresource, routeScope(info), COMPONENT);
    case 'custom resource':
      return whereOf(info, info.subresource, requestScope(info), COMPONENT);
  }
}

/** Of a path, what it names itself: a list of one object by a selector is still a list. */
function routeScope(info: RequestInfo): string {
  if (info.parts.length > 1 || info.verb === 'create') return 'resource';
  return info.namespace === '' ? 'cluster' : 'namespace';
}

const HEALTH_PATHS: ReadonlySet<string> = new Set(['/healthz', '/livez', '/readyz']);

/** Of what is no resource little is counted. */
function pathWhere(path: string, response: HttpResponse): Where | undefined {
  const at = (subresource: string, component: string): Where => ['', '', '', subresource, '', component];
  if (HEALTH_PATHS.has(path)) return at(path, '');
  if (path === '/openapi/v3') return at('openapi/v3', '');
  if (path.startsWith('/openapi/v3/')) return at('openapi/v3/', '');
  if (path !== '/api' && path !== '/apis') return undefined;
  return String(response.headers['content-type']).includes('as=APIGroupDiscoveryList')
    ? at(path.slice(1), COMPONENT)
    : undefined;
}

export function reportedVerb({ request, info }: Exchange, scope: string): string {
  const { method } = request;
  if (info.isResourceRequest && CONNECTS.has(info.subresource)) return 'CONNECT';
  if (method === 'GET' || method === 'HEAD') {
    if (isWatch(request, info)) return 'WATCH';
    return scope === 'resource' || scope === '' ? 'GET' : 'LIST';
  }
  if (method === 'PATCH' && request.headers['content-type'] === 'application/apply-patch+yaml') return 'APPLY';
  return METHODS.has(method) ? method : 'other';
}

function isWatch(request: HttpRequest, { verb, verbInPath }: RequestInfo): boolean {
  if (verbInPath) return verb === 'watch';
  if (request.method !== 'GET' || !request.search.includes('watch')) return false;
  const wanted = request.query.get('watch')?.toLowerCase();
  return wanted !== undefined && wanted !== '0' && wanted !== 'false';
}

const CONNECTS: ReadonlySet<string> = new Set(['attach', 'exec', 'log', 'portforward', 'proxy']);

const FIELD_VALIDATIONS: ReadonlySet<string> = new Set(['', 'Ignore', 'Strict', 'Warn']);

export function fieldValidationOf({ request }: Exchange): string {
  if (!request.search.includes('fieldValidation')) return '';
  const values = request.query.getAll('fieldValidation');
  const [value = ''] = values;
  return values.length === 1 && FIELD_VALIDATIONS.has(value) ? value : 'invalid';
}

export function dryRunOf({ request }: Exchange): string {
  if (request.search === '') return '';
  const values = request.query.getAll('dryRun');
  if (values.length === 0) return '';
  return values.every((value) => value === 'All') ? 'All' : 'invalid';
}

export function compressUser(name: string): string {
  switch (name) {
    case 'admin':
    case 'client':
    case 'kube_proxy':
    case 'kubelet':
    case 'system:serviceaccount:kube-system:default':
      return name;
    default:
      return name.includes('@') ? 'email_id' : 'other';
  }
}
