// What is served beside the resources: discovery, health, documents, metrics, profiles.
import type { HttpRequest, HttpResponse } from '../../lib/http/http.js';
import type { MaybePromise } from '../../lib/async/maybe-promise.js';
import { noSuchPath, wrongMethod } from '../../machinery/status.js';
import { trimEnd } from '../../lib/text/trim-end.js';
import { requireRoute } from '../../rest/wire/negotiate.js';
import { pageNotFound } from '../../rest/contract/page-not-found.js';
import { indexOf } from './endpoints.js';

/**
 * Answers the paths it knows; undefined for any other. `path` is the one that was authorized, its escapes read: a
 * handler goes by it, not by what the request was sent with.
 */
export type PathHandler = (request: HttpRequest, path: string) => MaybePromise<HttpResponse> | undefined;

export interface Paths {
  /** Tried one after another. */
  readonly handlers: readonly PathHandler[];
  /** What the index shows. */
  readonly index: () => readonly string[];
}

export function createPaths({
  handlers,
  index,
}: Paths): (request: HttpRequest, path: string) => MaybePromise<HttpResponse> {
  return (request, path) => {
    if (path === '/' || path === '/index.html') return indexOf(index());
    for (const handler of handlers) {
      const answer = handler(request, path);
      if (answer !== undefined) return answer;
    }
    return pageNotFound();
  };
}

/** A handler for one path, with or without a slash at its end. */
export const at =
  (path: string, answer: (request: HttpRequest) => MaybePromise<HttpResponse>): PathHandler =>
  (request, requested) =>
    requested === path || requested === `${path}/` ? answer(request) : undefined;

/** A handler of one read-only path in one media type; every path below it is a 404 of its own. */
export const getAt =
  (path: string, mediaType: string, answer: () => MaybePromise<HttpResponse>): PathHandler =>
  (request, requested) => {
    if (requested !== path && !requested.startsWith(`${path}/`)) return undefined;
    if (trimEnd(requested, '/') !== path) throw noSuchPath();
    if (request.method !== 'GET') throw wrongMethod();
    requireRoute(request.headers['accept'] || '*/*', [mediaType]);
    return answer();
  };
