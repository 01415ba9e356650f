// The logs that a server's flags ask for.
import { createLogs, type Logs, type LogOptions } from '../../lib/telemetry/log.js';
import type { Options } from '../../options/options.js';

/** `write`: where they go instead of the standard streams. */
export function createServerLogs({ logs, workers }: Options, write?: LogOptions['write']): Logs {
  return createLogs({
    verbosity: logs.v,
    modules: logs.vmodule,
    flushFrequencyMs: logs.logFlushFrequencyMs,
    wholeLines: workers > 1,
    ...(write !== undefined && { write }),
    ...(logs.loggingFormat === 'json'
      ? {
          format: 'json' as const,
          splitStream: logs.logJsonSplitStream,
          infoBufferBytes: logs.logJsonInfoBufferSize,
        }
      : { splitStream: logs.logTextSplitStream, infoBufferBytes: logs.logTextInfoBufferSize }),
  });
}
