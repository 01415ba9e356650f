// Requests without sockets, for the tests of filters.
import type { HttpRequest, HttpResponse } from '../lib/http/http.js';
import { parseQuery } from '../lib/http/request-target.js';
import { Exchange } from './exchange.js';
import { isLongRunning } from './long-running.js';
import { parseRequestInfo } from './request-info.js';

export function testRequest(method: string, target: string, over: Partial<HttpRequest> = {}): HttpRequest {
  const question = target.indexOf('?');
  const path = question < 0 ? target : target.slice(0, question);
  const search = question < 0 ? '' : target.slice(question + 1);
  return {
    method,
    path,
    search,
    query: parseQuery(search),
    headers: {},
    httpVersion: '1.1',
    remoteAddress: '127.0.0.1:1',
    host: 'localhost',
    clientCertificates: [],
    body: () => Promise.resolve(Buffer.alloc(0)),
    bodyStream: () => undefined,
    signal: new AbortController().signal,
    ...over,
  };
}

export function testExchange(method: string, target: string, over: Partial<HttpRequest> = {}): Exchange {
  const request = testRequest(method, target, over);
  // In whole milliseconds: of others, a sum less one of its parts is not always the other part.
  const exchange = new Exchange(request, Date.now(), Math.floor(performance.now()));
  const info = parseRequestInfo(request);
  if (typeof info === 'object') exchange.info = info;
  exchange.longRunning = isLongRunning(exchange.info);
  return exchange;
}

export const answer = (body = 'ok'): HttpResponse => ({ status: 200, headers: {}, body });
