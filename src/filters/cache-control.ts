import type { Filter } from './exchange.js';

/** What is served is under authentication, so no cache on the way may keep it. */
export const cacheControl: Filter = (exchange, next) => {
  exchange.responseHeaders['cache-control'] = 'no-cache, private';
  return next(exchange);
};
