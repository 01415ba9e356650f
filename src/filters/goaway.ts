import type { Filter } from './exchange.js';

/**
 * `--goaway-chance`: now and then makes an HTTP/2 client open a new connection, which a load balancer may place
 * on another server. The listener sends `connection: close` as GOAWAY.
 */
export function goaway(chance: number, random: () => number = Math.random): Filter | undefined {
  if (chance <= 0) return undefined;
  return (exchange, next) => {
    if (exchange.request.httpVersion === '2.0' && random() < chance) exchange.responseHeaders.connection = 'close';
    return next(exchange);
  };
}
