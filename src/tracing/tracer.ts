// Which work is recorded, and under which trace.
import { type Ids, RandomIds } from './ids.js';
import { type Recording, RecordedSpan, type SpanBirth } from './recorded-span.js';
import { type SpanContext, traceHeaders } from './span-context.js';
import type { Attributes, OutgoingCall, Scope, Trace } from './trace.js';

export interface TracerOptions {
  /** Of a million traces that begin here, so many are recorded. */
  readonly ratePerMillion: number;
  /** Is handed every span that ended. */
  readonly onEnd: (span: RecordedSpan) => void;
  readonly random?: () => number;
  readonly ids?: Ids;
  readonly nowMs?: () => number;
}

export interface RootOptions extends SpanBirth {
  readonly auditId: string;
  readonly baggage: string;
}

const MILLION = 1_000_000;
const sinceEpochMs = (): number => performance.timeOrigin + performance.now();

export class Tracer {
  readonly #share: number;
  readonly #random: () => number;
  readonly #ids: Ids;
  readonly #nowMs: () => number;
  readonly #onEnd: (span: RecordedSpan) => void;
  /** Of the server's own work, outside of requests: each call of others begins a trace. */
  readonly background: Trace;

  constructor({ ratePerMillion, onEnd, random, ids, nowMs }: TracerOptions) {
    this.#share = ratePerMillion / MILLION;
    this.#random = random ?? Math.random;
    this.#ids = ids ?? new RandomIds();
    this.#nowMs = nowMs ?? sinceEpochMs;
    this.#onEnd = onEnd;
    this.background = {
      span: undefined,
      calling: (name, scope, attributes) => this.#callOfOwn(name, scope, attributes),
    };
  }

  // hot: twice for each request
  /** Whether a trace that begins now is recorded. Ids are made only for those that are, so they do not decide it. */
  draw(): boolean {
    return this.#share > 0 && this.#random() < this.#share;
  }

  /** The first span of a trace. */
  root(birth: RootOptions): RecordedSpan {
    return new RecordedSpan(this.#recording(this.#ids.traceId(), '', birth), birth, '', undefined);
  }

  /** A span under another program's. */
  continued(parent: SpanContext, birth: RootOptions): RecordedSpan {
    return new RecordedSpan(this.#recording(parent.traceId, parent.state, birth), birth, parent.spanId, undefined);
  }

  /** A trace of which nothing is recorded here; `parent` where another program's goes on. */
  unrecorded(parent: SpanContext | undefined, baggage: string): Trace {
    const traceId = parent?.traceId ?? this.#ids.traceId();
    const state = parent?.state ?? '';
    return {
      span: undefined,
      calling: () => {
        const context = { traceId, spanId: this.#ids.spanId(), sampled: false, state };
        return { headers: traceHeaders(context, baggage), span: undefined };
      },
    };
  }

  #callOfOwn(name: string, scope: Scope, attributes: () => Attributes): OutgoingCall {
    if (!this.draw()) return this.unrecorded(undefined, '').calling(name, scope, attributes);
    const span = this.root({ name, scope, kind: 'client', attributes: attributes(), auditId: '', baggage: '' });
    return { headers: span.headers, span };
  }

  #recording(traceId: string, state: string, { baggage, auditId }: RootOptions): Recording {
    return { traceId, state, baggage, auditId, ids: this.#ids, nowMs: this.#nowMs, onEnd: this.#onEnd };
  }
}
