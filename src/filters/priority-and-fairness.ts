// Gives each request its seats, or a place in line, or a refusal: no client starves another.
import type { Refusal } from '../flowcontrol/fair-queues.js';
import type { Classified, FlowControl, FlowTicket } from '../flowcontrol/flow-control.js';
import type { FlowControlMetrics, RequestKind } from '../flowcontrol/metrics.js';
import { estimateWork, type EstimateSources, type ListQuery } from '../flowcontrol/work-estimate.js';
import { WatchCount } from '../flowcontrol/watch-count.js';
import type { HttpResponse } from '../lib/http/http.js';
import type { MaybePromise } from '../lib/async/maybe-promise.js';
import { yieldToEventLoop } from '../lib/scheduling/yield.js';
import { parseFieldSelector } from '../machinery/field-selector.js';
import { isReadOnly, type RequestInfo } from '../machinery/request-info.js';
import type { Exchange, Filter, Handler } from './exchange.js';
import { tooManyRequests } from './max-in-flight.js';

export interface PriorityAndFairnessOptions {
  readonly flowControl: FlowControl;
  readonly stored: EstimateSources['stored'];
  /** The options of a list; undefined where it will be refused. */
  readonly listQuery: (exchange: Exchange) => ListQuery | undefined;
  /** Lists cost by their bytes; by the number of their objects otherwise. */
  readonly sizeBased: boolean;
  readonly requestTimeoutMs: number;
  /** How many requests of a kind are under way, after each change. */
  readonly observe: (kind: RequestKind, running: number) => void;
  /** How many requests of a kind wait in a queue, after each change. */
  readonly observeWaiting: (kind: RequestKind, waiting: number) => void;
  /** How many of a kind run or wait in a queue, and when that was by flow control's clock. */
  readonly observePhase: FlowControlMetrics['requests'];
  readonly onRejected: (exchange: Exchange) => void;
}

/** How a request was classified. */
export const SCHEMA_HEADER = 'x-kubernetes-pf-flowschema-uid';
export const LEVEL_HEADER = 'x-kubernetes-pf-prioritylevel-uid';

/** The part of its time that a request may stand in line. */
const WAIT_PART = 0.25;
const MAX_WAIT_MS = 60_000;

/** A request on its way through its level. */
interface Entering {
  readonly exchange: Exchange;
  readonly next: Handler;
  readonly schema: Classified;
  readonly ticket: FlowTicket;
  /** For one that waits: it has its seats. */
  whenStarted: (() => void) | undefined;
}

export const priorityAndFairness = (options: PriorityAndFairnessOptions): Filter =>
  new PriorityAndFairness(options).filter;

class PriorityAndFairness {
  readonly #options: PriorityAndFairnessOptions;
  readonly #watches = new WatchCount();
  readonly #running = new KindCount();
  readonly #waiting = new KindCount();

  constructor(options: PriorityAndFairnessOptions) {
    this.#options = options;
    for (const kind of ['readOnly', 'mutating'] as const) options.observeWaiting(kind, 0);
  }

  // hot: every request (tools/bench-flowcontrol.mjs).
  readonly filter: Filter = (exchange, next) => {
    const { info, user } = exchange;
    const isWatch = info.verb === 'watch';
    // A connection that lasts holds no seat; a watch needs one to begin.
    if (user === undefined || (exchange.longRunning && !isWatch)) return next(exchange);
    const { flowControl, listQuery } = this.#options;
    const schema = flowControl.classify(info, user);
    exchange.responseHeaders[SCHEMA_HEADER] = schema.uid;
    exchange.responseHeaders[LEVEL_HEADER] = schema.level.uid;
    const estimate = estimateWork(info, schema.level.maxSeats, () => listQuery(exchange), this.#sources(schema));
    const subject = { info, user, metrics: schema.metrics };
    const distinguisher = schema.distinguisherOf(info, user);
    const start = (): void => entering.whenStarted?.();
    const ticket = schema.level.ticket({ schema: schema.name, distinguisher, estimate, subject, start });
    const entering: Entering = { exchange, next, schema, ticket, whenStarted: undefined };
    return this.#enter(entering, true);
  };

  /** `mayAsk`: other processes of the server may have seats that they do not need. */
  #enter(entering: Entering, mayAsk: boolean): MaybePromise<HttpResponse> {
    const { exchange, next, schema, ticket } = entering;
    const outcome = schema.level.enter(ticket);
    switch (outcome) {
      case 'execute':
        if (exchange.trail !== undefined && !schema.level.exempt) {
          exchange.trail.seatedMs = performance.now() - ticket.arrivedMs;
        }
        return this.#run(exchange, next, schema, ticket);
      case 'wait':
        return this.#wait(entering);
      default:
        return (mayAsk ? this.#enterAgain(entering) : undefined) ?? this.#refuse(exchange, schema, ticket, outcome);
    }
  }

  #enterAgain(entering: Entering): Promise<HttpResponse> | undefined {
    return entering.schema.level.requestSeats(entering.ticket)?.then(() => this.#enter(entering, false));
  }

  #wait(entering: Entering): Promise<HttpResponse> {
    const { exchange, next, schema, ticket } = entering;
    return new Promise((resolve, reject) => {
      const kind = kindOf(exchange.info);
      const line = this.#standInLine(exchange, schema, ticket, () => {
        this.#inLine(kind, -1, performance.now());
        exchange.spent('apf-queue-wait', performance.now() - sinceMs);
        resolve(this.#tooMany(exchange, schema));
      });
      const sinceMs = performance.now();
      this.#inLine(kind, 1, sinceMs);
      entering.whenStarted = () => {
        line.served();
        this.#inLine(kind, -1, performance.now());
        exchange.spent('apf-queue-wait', performance.now() - sinceMs);
        // Many may begin at once, when many have ended at once.
        yieldToEventLoop()
          .then(() => this.#run(exchange, next, schema, ticket))
          .then(resolve, reject);
      };
    });
  }

  #sources(schema: Classified): EstimateSources {
    return {
      stored: this.#options.stored,
      sizeBased: this.#options.sizeBased,
      watches: (info) => this.#watches.concernedBy(info),
      observeWatches: (count) => schema.metrics.watchCount(count),
    };
  }

  #inLine(kind: RequestKind, by: 1 | -1, nowMs: number): void {
    const count = this.#waiting.add(kind, by);
    this.#options.observeWaiting(kind, count);
    this.#options.observePhase('waiting', kind, count, nowMs);
  }

  #run(exchange: Exchange, next: Handler, schema: Classified, ticket: FlowTicket): MaybePromise<HttpResponse> {
    const { info } = exchange;
    const kind = kindOf(info);
    const withThis = this.#running.add(kind, 1);
    this.#options.observe(kind, withThis);
    this.#options.observePhase('executing', kind, withThis, ticket.startedMs ?? 0);
    const release = (): void => {
      const others = this.#running.add(kind, -1);
      this.#options.observe(kind, others);
      this.#options.observePhase('executing', kind, others, schema.level.finish(ticket));
    };
    if (info.verb !== 'watch') {
      exchange.onFinish(release);
      return next(exchange);
    }
    exchange.onFinish(this.#watches.add(info, isNarrowed(info)));
    // It has begun when it answers; what it sends from then on concerns nobody's seats, and keeps no ticket.
    try {
      const answer = next(exchange);
      if (answer instanceof Promise) return answer.finally(release);
      release();
      return answer;
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Until it is served, its time is over or its client is gone. */
  #standInLine(
    { request, deadlineMs, receivedMs }: Exchange,
    schema: Classified,
    ticket: FlowTicket,
    refused: () => void,
  ): { served(): void } {
    const ownMs = deadlineMs === undefined ? this.#options.requestTimeoutMs : deadlineMs - receivedMs;
    const untilMs = receivedMs + Math.min(ownMs * WAIT_PART, MAX_WAIT_MS);
    const giveUp = (): void => {
      settle();
      schema.level.leave(ticket);
      refused();
    };
    const timer = setTimeout(giveUp, Math.max(0, untilMs - Date.now()));
    request.signal.addEventListener('abort', giveUp, { once: true });
    const settle = (): void => {
      clearTimeout(timer);
      request.signal.removeEventListener('abort', giveUp);
    };
    return {
      served() {
        settle();
        schema.level.started(ticket);
      },
    };
  }

  #refuse(exchange: Exchange, schema: Classified, ticket: FlowTicket, why: Refusal): HttpResponse {
    schema.level.refuse(ticket, why);
    return this.#tooMany(exchange, schema);
  }

  #tooMany(exchange: Exchange, { level }: Classified): HttpResponse {
    this.#options.onRejected(exchange);
    return tooManyRequests(level.retryAfterSeconds());
  }
}

// hot: twice for each request. A computed member name costs V8 several times as much.
class KindCount {
  private readOnly = 0;
  private mutating = 0;

  add(kind: RequestKind, more: number): number {
    return kind === 'readOnly' ? (this.readOnly += more) : (this.mutating += more);
  }
}

const kindOf = (info: RequestInfo): RequestKind => (isReadOnly(info) ? 'readOnly' : 'mutating');

/** The pods of one node are found by an index: such a watch costs others' writes nothing. */
function isNarrowed({ resource, fieldSelector }: RequestInfo): boolean {
  if (resource !== 'pods' || fieldSelector === '') return false;
  try {
    return (parseFieldSelector(fieldSelector).requiresExactMatch('spec.nodeName') ?? '') !== '';
  } catch {
    return false;
  }
}
