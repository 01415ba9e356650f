import type { Filter } from './exchange.js';

/** `--strict-transport-security-directives`; no row without directives. */
export function hsts(directives: readonly string[]): Filter | undefined {
  if (directives.length === 0) return undefined;
  const value = directives.join('; ');
  return (exchange, next) => {
    exchange.responseHeaders['strict-transport-security'] = value;
    return next(exchange);
  };
}
