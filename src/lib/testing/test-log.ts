// Loggers for tests.
import type { Logger, Logs } from '../telemetry/log.js';

/** Passes every message on, whatever its severity and verbosity, without its fields. */
export function logTo(write: (message: string) => void): Logger {
  const log: Logger = {
    info: (message) => write(message),
    warning: (message) => write(message),
    error: (_error, message) => write(message),
    plain: (message) => write(message),
    v: () => log,
  };
  return log;
}

export const silentLog: Logger = logTo(() => undefined);

export const silentLogs: Logs = {
  for: () => silentLog,
  setVerbosity: () => undefined,
  flush: () => undefined,
};
