// Shutdown, seen by requests: new ones are turned away, those under way are counted until they are done.
import { Abortable } from '../lib/async/abortable.js';
import { StatusError, serviceUnavailable } from '../machinery/status.js';
import { type HttpResponse, isStream, type ResponseSink, type ResponseStream } from '../lib/http/http.js';
import { whenReady } from '../lib/async/maybe-promise.js';
import { whenGone } from '../lib/async/when-aborted.js';
import { withTimeout } from '../lib/async/with-timeout.js';
import type { Exchange, Filter } from './exchange.js';
import { plainError, statusAsJson } from './plain-response.js';

/** What the filters need of the life cycle. */
export interface Draining {
  /** True once the shutdown delay is over. */
  readonly notAcceptingNewRequests: boolean;
  readonly requests: InFlight;
  readonly watches: OpenWatches;
}

/** Requests under way. After `drained()` is called, no more are let in. */
export class InFlight {
  private count = 0;
  private waiting: (() => void) | undefined;
  private closed = false;

  get size(): number {
    return this.count;
  }

  /** False when no more are let in. */
  enter(): boolean {
    if (this.closed) return false;
    this.count++;
    return true;
  }

  leave(): void {
    this.count--;
    if (this.count === 0) this.waiting?.();
  }

  drained(): Promise<void> {
    this.closed = true;
    if (this.count === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.waiting = resolve;
    });
  }
}

/** `--shutdown-send-retry-after`: while draining, the listener stays open and says to come back later, elsewhere. */
export function retryAfter(draining: Draining): Filter {
  return (exchange, next) => {
    if (!draining.notAcceptingNewRequests || isExempt(exchange)) return next(exchange);
    return plainError(429, 'The apiserver is shutting down, please try again later.', {
      connection: 'close',
      'retry-after': '5',
    });
  };
}

/** Counts requests that end by themselves, so that shutdown can wait for them. */
export function countInFlight(draining: Draining): Filter {
  return (exchange, next) => {
    if (exchange.longRunning) return next(exchange);
    if (!draining.requests.enter()) {
      return isExempt(exchange) ? next(exchange) : shuttingDown();
    }
    exchange.onFinish(() => draining.requests.leave());
    return next(exchange);
  };
}

/**
 * Watches never end by themselves, so shutdown ends them: what they write to ends before the client goes. One that ends
 * that way is finished in good order, not cut.
 */
export function countWatches(draining: Draining): Filter {
  return (exchange, next) => {
    if (exchange.info.verb !== 'watch') return next(exchange);
    if (draining.watches.closed) return shuttingDown();
    return whenReady(next(exchange), (response: HttpResponse) => {
      const { body } = response;
      if (!isStream(body)) return response;
      return { ...response, body: { stream: (sink) => streamUntilEnd(body, sink, draining.watches) } };
    });
  };
}

/** Without a signal of its own and with few closures: thousands are kept. */
function streamUntilEnd(body: ResponseStream, sink: ResponseSink, watches: OpenWatches): Promise<void> {
  const ending = new EndingSink(sink);
  watches.add(ending);
  return body.stream(ending).then(
    () => watches.delete(ending),
    (error: unknown) => {
      watches.delete(ending);
      if (!ending.signal.aborted) throw error;
    },
  );
}

class EndingSink extends Abortable implements ResponseSink {
  constructor(private readonly sink: ResponseSink) {
    super();
    whenGone(sink, () => this.stop(CLIENT_GONE));
  }
  whenGone(run: () => void): () => void {
    return this.whenStopped(run);
  }
  trail(fields: HttpResponse['headers']): void {
    this.sink.trail?.(fields);
  }
  get pendingBytes(): number {
    return this.sink.pendingBytes;
  }
  write(chunk: Buffer | string): boolean {
    return this.sink.write(chunk);
  }
  drained(): Promise<void> {
    return this.sink.drained();
  }
}

/** Watches under way. */
export class OpenWatches {
  private readonly open = new Set<EndingSink>();
  private empty: (() => void) | undefined;
  closed = false;

  get size(): number {
    return this.open.size;
  }

  add(watch: EndingSink): void {
    this.open.add(watch);
    if (this.closed) watch.stop(SHUTTING_DOWN);
  }

  delete(watch: EndingSink): void {
    this.open.delete(watch);
    if (this.open.size === 0) this.empty?.();
  }

  /** Ends them all, at a pace that spreads their clients' return over the given time; waits no longer than that. */
  async end(graceMs: number): Promise<void> {
    this.closed = true;
    const all = [...this.open];
    if (all.length === 0) return;
    const perTick = Math.ceil(
      (Math.max(all.length / Math.max(graceMs / 1000, 0.001), MIN_ENDED_PER_SECOND) * TICK_MS) / 1000,
    );
    const empty = new Promise<void>((resolve) => {
      this.empty = resolve;
    });
    const tick = (): void => {
      for (const watch of graceMs > 0 ? all.splice(0, perTick) : all.splice(0)) watch.stop(SHUTTING_DOWN);
    };
    tick();
    const pace = setInterval(tick, TICK_MS);
    // Until then the ticks keep the process alive.
    await withTimeout(empty, { ms: Math.max(graceMs, MIN_END_MS), onTimeout: () => undefined });
    clearInterval(pace);
  }
}

const TICK_MS = 10;
const MIN_ENDED_PER_SECOND = 200;
/** Without a grace period watches are ended at once; this is only for their last bytes. */
const MIN_END_MS = 500;
const SHUTTING_DOWN = new Error('the server is shutting down');
const CLIENT_GONE = new Error('the client is gone');

const EXEMPT_PATHS = ['/readyz', '/livez', '/healthz', '/metrics'];

/** Health, metrics and the server's own requests are answered to the end. */
const isExempt = ({ request, info }: Exchange): boolean =>
  EXEMPT_PATHS.some((prefix) => info.path.startsWith(prefix)) ||
  (request.headers['user-agent'] ?? '').startsWith('kube-apiserver/');

function shuttingDown(): HttpResponse {
  const { code, reason, message } = serviceUnavailable('apiserver is shutting down');
  const answer = statusAsJson(new StatusError(code, reason, message));
  return { ...answer, headers: { ...answer.headers, 'retry-after': '1', 'x-content-type-options': 'nosniff' } };
}
