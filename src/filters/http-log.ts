import type { Logger } from '../lib/telemetry/log.js';
import { formatDurationMs } from '../machinery/time.js';
import type { Filter } from './exchange.js';
import { uriOf } from './request-info.js';

const LEVEL = 3;

/** One line for each request, where the log is as verbose when it comes. */
export function httpLog(log: Logger): Filter {
  // hot: every request
  return (exchange, next) => {
    const lines = log.v(LEVEL);
    if (lines === undefined) return next(exchange);
    const { request, info, auditId } = exchange;
    const startedMs = performance.now();
    exchange.onFinish((response) => {
      lines.info('HTTP', {
        verb: info.isResourceRequest ? info.verb.toUpperCase() : request.method,
        URI: uriOf(request),
        latency: formatDurationMs(performance.now() - startedMs),
        userAgent: request.headers['user-agent'] ?? '',
        'audit-ID': auditId.slice(0, 64),
        srcIP: request.remoteAddress,
        ...(response.status === 101 ? { hijacked: true } : { resp: response.status }),
      });
    });
    return next(exchange);
  };
}
