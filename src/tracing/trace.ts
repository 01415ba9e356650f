// What a piece of work has to do with traces. Everybody else in the server knows of tracing only this: a Trace that
// comes along with a request, and the spans that are recorded under it.
//
//   request.trace ── span? ──▶ undefined         nothing is recorded: `trace.span?.event(…)` costs a look
//                          └─▶ Span ── child ──▶ Span ── event, event ── end
//
// A trace that is not recorded is known to others all the same: calls for it propagate its id.

export type Attributes = Readonly<Record<string, string | number | boolean>>;

/** Names in lower case. */
export type TraceHeaders = Readonly<Record<string, string>>;

/** Who made a span, as collectors know it from kube-apiserver. */
export const SCOPES = {
  steps: 'k8s.io/component-base/tracing',
  stages: 'k8s.op/apiserver/pkg/endpoints/filterlatency',
  http: 'go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp',
  grpc: 'go.opentelemetry.io/contrib/instrumentation/google.golang.org/grpc/otelgrpc',
} as const;

export type Scope = (typeof SCOPES)[keyof typeof SCOPES];

export type SpanKind = 'internal' | 'server' | 'client';

export interface Trace {
  /** Where work is noted; undefined while nothing is recorded. */
  readonly span: Span | undefined;
  /** Begins a call of another program on behalf of the work; `attributes` are read where it is recorded. */
  calling(name: string, scope: Scope, attributes: () => Attributes): OutgoingCall;
}

export interface OutgoingCall {
  /** What the other program is sent, so that its spans come under ours. */
  readonly headers: TraceHeaders;
  /** Of the call, where it is recorded; whoever began it ends it. */
  readonly span: Span | undefined;
}

/** Work that is recorded, from its making to `end`. */
export interface Span extends Trace {
  /** Of the request it is for; empty for work of the server's own. */
  readonly auditId: string;
  /** The span of this program that this one is a step of. */
  readonly above: Span | undefined;
  /** A step of this work. */
  child(name: string, attributes?: Attributes, scope?: Scope, kind?: SpanKind): Span;
  event(name: string, attributes?: Attributes): void;
  set(attributes: Attributes): void;
  fail(message: string): void;
  /** Only the first call counts. */
  end(): void;
}
