// A request that took long is logged with where its time went, in the form of kube-apiserver's traces:
//
//   Trace[7]: "list" audit-id:9b1c…,client:10.0.0.7,protocol:HTTP/2.0,url:/api/v1/pods,user-agent:kubelet (total time: 812ms):
//   Trace[7]: ---"apf-queue-wait" 0ms,"etcd" 3ms,"serialize-response-object" 140ms,"response-write" 420ms
//   Trace[7]: ---"main thread" busy 790ms,collecting garbage 45ms,longest hold 130ms
//   Trace[7]: [812ms] END
import type { Logger } from '../lib/telemetry/log.js';
import type { ThreadUse } from '../lib/scheduling/thread-use.js';
import { goQuote } from '../lib/go/quote.js';
import type { Exchange, Filter } from './exchange.js';

/** As kube-apiserver has it for most verbs. */
const SLOW_MS = 500;

export interface SlowRequestsOptions {
  readonly log: Logger;
  /** By the monotonic clock, in milliseconds. */
  readonly nowMs: () => number;
  /** What the main thread did since a moment of that clock. */
  readonly threadUse: (sinceMs: number) => ThreadUse;
}

export function slowRequests({ log, nowMs, threadUse }: SlowRequestsOptions): Filter {
  let traces = 0;
  return (exchange, next) => {
    if (exchange.longRunning) return next(exchange);
    exchange.onFinish(() => {
      const tookMs = nowMs() - exchange.startedMs;
      if (tookMs < SLOW_MS) return;
      const trace = `Trace[${++traces}]:`;
      const { busyMs, collectingMs, longestHoldMs } = threadUse(exchange.startedMs);
      const layers = (exchange.latency?.entries() ?? []).map(([layer, ms]) => `"${layer}" ${ms.toFixed(0)}ms`);
      log.plain(`${trace} ${headOf(exchange)} (total time: ${tookMs.toFixed(0)}ms):`);
      if (layers.length > 0) log.plain(`${trace} ---${layers.join(',')}`);
      log.plain(
        `${trace} ---"main thread" busy ${busyMs.toFixed(0)}ms,collecting garbage ${collectingMs.toFixed(0)}ms,longest hold ${longestHoldMs.toFixed(0)}ms`,
      );
      log.plain(`${trace} [${tookMs.toFixed(0)}ms] END`);
    });
    return next(exchange);
  };
}

/** Clients choose the agent, the path and the audit id: they are quoted, and cut. */
function headOf({ request, info, auditId }: Exchange): string {
  const shown = (text: string): string => goQuote(text.slice(0, MAX_CHARACTERS)).slice(1, -1);
  const fields = {
    'audit-id': shown(auditId),
    client: request.remoteAddress,
    'api-group': shown(info.apiGroup),
    'api-version': shown(info.apiVersion),
    resource: shown(info.resource),
    subresource: shown(info.subresource),
    namespace: shown(info.namespace),
    name: shown(info.name),
    url: shown(request.path),
    'user-agent': shown(request.headers['user-agent'] ?? ''),
  };
  const listed = Object.entries(fields).map(([name, value]) => `${name}:${value}`);
  return `"${shown(info.verb === '' ? request.method : info.verb)}" ${listed.join(',')}`;
}

const MAX_CHARACTERS = 256;
