import type { Logger } from './log.js';

/** Logs each message after what it is about: `flow schemas: watch ended`. */
export function prefixed(log: Logger, prefix: string): Logger {
  const withPrefix = (message: string): string => `${prefix}: ${message}`;
  return {
    info: (message, fields) => log.info(withPrefix(message), fields),
    warning: (message, fields) => log.warning(withPrefix(message), fields),
    error: (error, message, fields) => log.error(error, withPrefix(message), fields),
    plain: (message) => log.plain(withPrefix(message)),
    v(level) {
      const verbose = log.v(level);
      return verbose && prefixed(verbose, prefix);
    },
  };
}
