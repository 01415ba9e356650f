// A span that is recorded, and handed over when it ends.
import type { Ids } from './ids.js';
import { type SpanContext, traceHeaders } from './span-context.js';
import {
  type Attributes,
  type OutgoingCall,
  type Scope,
  SCOPES,
  type Span,
  type SpanKind,
  type TraceHeaders,
} from './trace.js';

export interface SpanEvent {
  readonly name: string;
  readonly atMs: number;
  readonly attributes: Attributes;
}

/** What the spans of one request have in common. */
export interface Recording {
  readonly traceId: string;
  readonly state: string;
  readonly baggage: string;
  readonly auditId: string;
  readonly ids: Ids;
  /** Milliseconds since the epoch, with their fractions. */
  readonly nowMs: () => number;
  readonly onEnd: (span: RecordedSpan) => void;
}

export interface SpanBirth {
  readonly name: string;
  readonly scope: Scope;
  readonly kind: SpanKind;
  readonly attributes?: Attributes | undefined;
  readonly link?: SpanContext | undefined;
}

/** As kube-apiserver keeps of one span; the oldest go first. */
const MAX_EVENTS = 128;

export class RecordedSpan implements Span {
  readonly id: string;
  readonly startMs: number;
  endMs = 0;
  readonly events: SpanEvent[] = [];
  droppedEvents = 0;
  attributes: Attributes;
  failure: string | undefined = undefined;

  constructor(
    readonly recording: Recording,
    readonly birth: SpanBirth,
    /** Empty for the first of a trace. */
    readonly parentId: string,
    /** The parent, unless it is another program's. */
    readonly above: RecordedSpan | undefined,
  ) {
    this.id = recording.ids.spanId();
    this.startMs = recording.nowMs();
    this.attributes = birth.attributes ?? {};
  }

  get span(): this {
    return this;
  }

  get auditId(): string {
    return this.recording.auditId;
  }

  get headers(): TraceHeaders {
    const { traceId, state, baggage } = this.recording;
    return traceHeaders({ traceId, spanId: this.id, sampled: true, state }, baggage);
  }

  child(name: string, attributes?: Attributes, scope: Scope = SCOPES.steps, kind: SpanKind = 'internal'): RecordedSpan {
    return new RecordedSpan(this.recording, { name, scope, kind, attributes }, this.id, this);
  }

  calling(name: string, scope: Scope, attributes: () => Attributes): OutgoingCall {
    const span = this.child(name, attributes(), scope, 'client');
    return { headers: span.headers, span };
  }

  event(name: string, attributes: Attributes = NOTHING): void {
    if (this.events.length === MAX_EVENTS) {
      this.events.shift();
      this.droppedEvents++;
    }
    this.events.push({ name, atMs: this.recording.nowMs(), attributes });
  }

  set(attributes: Attributes): void {
    this.attributes = { ...this.attributes, ...attributes };
  }

  fail(message: string): void {
    this.failure = message;
  }

  end(): void {
    if (this.endMs !== 0) return;
    this.endMs = this.recording.nowMs();
    this.recording.onEnd(this);
  }
}

const NOTHING: Attributes = {};
