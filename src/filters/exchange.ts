// One request on its way through the filters, and what they learn about it.
import type { Level } from '../audit/levels.js';
import type { AuditTrail } from '../audit/trail.js';
import { firstHeader, type HttpRequest, type HttpResponse } from '../lib/http/http.js';
import type { MaybePromise } from '../lib/async/maybe-promise.js';
import type { RequestInfo } from '../machinery/request-info.js';
import { type LatencyLayer, RequestLatency } from '../machinery/request-latency.js';
import type { StatusError } from '../machinery/status.js';
import type { UserInfo } from '../machinery/user.js';
import { passedOn } from '../tracing/passed-on.js';
import type { SentHeaders } from '../tracing/span-context.js';
import type { Attributes, OutgoingCall, Scope, Span, Trace } from '../tracing/trace.js';

export type Handler = (exchange: Exchange) => MaybePromise<HttpResponse>;

/** Answers itself, or lets `next` answer and may change what comes back. */
export type Filter = (exchange: Exchange, next: Handler) => MaybePromise<HttpResponse>;

/** Answers a refusal, before the request is any further recorded. */
export type Refuse = (error: StatusError, exchange: Exchange) => MaybePromise<HttpResponse>;

export type ResponseHeaders = Record<string, string | readonly string[]>;

export interface Warning {
  readonly agent: string;
  readonly text: string;
}

const UNKNOWN: RequestInfo = {
  isResourceRequest: false,
  path: '',
  verb: '',
  verbInPath: false,
  usualMethod: false,
  apiPrefix: '',
  apiGroup: '',
  apiVersion: '',
  namespace: '',
  resource: '',
  subresource: '',
  name: '',
  parts: [],
  fieldSelector: '',
  labelSelector: '',
};

export class Exchange implements Trace {
  info: RequestInfo = UNKNOWN;
  longRunning = false;
  auditId = '';
  /** True when this server made the id, which then needs no escaping. */
  hasOwnAuditId = false;
  /** Who the request acts as: set by authentication, replaced by impersonation. */
  user: UserInfo | undefined = undefined;
  /** Who sent the request, when it acts as someone else. */
  impersonator: UserInfo | undefined = undefined;
  /** Set by authentication: the audiences the credential was checked for. */
  audiences: readonly string[] | undefined = undefined;
  /** Set by authentication when it removed a token from Sec-WebSocket-Protocol: what is left of the header. */
  websocketProtocols: string | undefined = undefined;
  /** The handler of the request, once all filters let it pass. */
  servedBy: 'resource' | 'custom resource' | 'path' | undefined = undefined;
  /** When a request that is not long-running must have been answered, in milliseconds since the epoch. */
  deadlineMs: number | undefined = undefined;
  /** It was over before its work was: the client was answered that, if it is still there. */
  isLate = false;
  /** Headers every answer of this request gets, unless the answer has its own. */
  readonly responseHeaders: ResponseHeaders = {};
  /** Sent to the client as `Warning` headers. */
  warnings: Warning[] | undefined = undefined;
  /** What the request's audit events will say; nothing where nobody listens. */
  trail: AuditTrail | undefined = undefined;

  /** Where the request's time goes; not kept for a watch. */
  latency: RequestLatency | undefined = undefined;
  /** Under which the request's work is recorded, stage below stage; undefined when it is not. */
  span: Span | undefined = undefined;
  /** Set where tracing is on: the trace headers of outgoing calls for an unrecorded request. */
  traceUnrecorded: ((exchange: Exchange) => Trace) | undefined = undefined;

  private unrecorded: Trace | undefined = undefined;
  private finishers: ((response: HttpResponse) => void)[] | undefined = undefined;

  constructor(
    readonly request: HttpRequest,
    /** When it came, by the calendar. */
    readonly receivedMs: number,
    /** The same moment by the monotonic clock, in microseconds. */
    readonly startedMs: number,
  ) {}

  warn(text: string, agent = ''): void {
    (this.warnings ??= []).push({ agent, text });
  }

  annotate(key: string, value: string, level?: Level): void {
    this.trail?.annotate(key, value, level);
  }

  spent(layer: LatencyLayer, ms: number): void {
    if (this.info.verb !== 'watch') (this.latency ??= new RequestLatency()).add(layer, ms);
  }

  calling(name: string, scope: Scope, attributes: () => Attributes): OutgoingCall {
    if (this.span !== undefined) return this.span.calling(name, scope, attributes);
    this.unrecorded ??= this.traceUnrecorded?.(this) ?? passedOn(this.sentTrace());
    return this.unrecorded.calling(name, scope, attributes);
  }

  sentTrace(): SentHeaders {
    return {
      traceparent: firstHeader(this.request, 'traceparent'),
      tracestate: firstHeader(this.request, 'tracestate'),
      baggage: firstHeader(this.request, 'baggage'),
    };
  }

  /** Runs when the whole answer has been produced: for an answer in pieces, after its last piece. */
  onFinish(finisher: (response: HttpResponse) => void): void {
    // Two or three, and thousands of watches keep theirs: an array that is pushed to has room for seventeen.
    this.finishers = this.finishers === undefined ? [finisher] : [...this.finishers, finisher];
  }

  finish(response: HttpResponse): void {
    const finishers = this.finishers;
    if (finishers === undefined) return;
    this.finishers = undefined;
    for (const finisher of finishers) finisher(response);
  }
}
