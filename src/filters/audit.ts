// Records who did what and what came of it, as the audit policy says.
//
//   RequestReceived   before anything is done; where it cannot be stored and must be, nothing is done
//   ResponseStarted   long-running requests only: the head of the answer is known
//   ResponseComplete  the last byte is produced
//   Panic             instead of the last, when nobody expected what happened
import type { AuditBackend } from '../audit/backend.js';
import type { AuditEvent } from '../audit/event.js';
import type { AuditMetrics } from '../audit/metrics.js';
import type { EvaluatePolicy } from '../audit/policy.js';
import { AuditTrail } from '../audit/trail.js';
import { errorText } from '../lib/text/error-text.js';
import { type HttpResponse, isStream, type ResponseStream } from '../lib/http/http.js';
import { type MaybePromise, whenReady } from '../lib/async/maybe-promise.js';
import type { Exchange, Filter, Handler } from './exchange.js';
import { internalServerError } from './plain-response.js';
import { uriOf } from './request-info.js';

export interface Audit {
  readonly policy: EvaluatePolicy;
  readonly sink: AuditBackend;
  readonly metrics: AuditMetrics;
}

/** Before anybody has something to note. */
export const beginTrail: Filter = (exchange, next) => {
  exchange.trail = new AuditTrail();
  return next(exchange);
};

export function audit(options: Audit): Filter {
  return (exchange, next) => {
    const trail = startTrail(options, exchange);
    if (trail === undefined) return next(exchange);
    if (trail.omits.RequestReceived) return served(options, trail, exchange, next);
    const received = trail.received();
    // Where nobody waits for it, it goes with the last of a request that is answered at once.
    if (!options.sink.isWaitedFor) trail.unsent = received;
    const first = trail.unsent !== undefined || record(options, trail, received);
    if (first === true) return served(options, trail, exchange, next);
    return whenReady(first, (stored) => {
      if (stored) return served(options, trail, exchange, next);
      options.metrics.rejected();
      return internalServerError(uriOf(exchange.request), 'failed to store audit event');
    });
  };
}

/** A request that is refused before it is known who sent it leaves one event. */
export function auditRefusal(options: Audit, exchange: Exchange, response: HttpResponse): MaybePromise<HttpResponse> {
  const trail = startTrail(options, exchange);
  if (trail === undefined) return response;
  const recorded = whenReady(trail.answer(response), () => recordReached(options, trail, 'ResponseStarted'));
  return whenReady(recorded, () => response);
}

/** Undefined when the policy wants nothing of this request. */
function startTrail({ policy, metrics }: Audit, exchange: Exchange): AuditTrail | undefined {
  const { trail, user, info } = exchange;
  if (trail === undefined) return undefined;
  const recording = policy(user, info);
  metrics.level(recording.level);
  if (recording.level === 'None') return (exchange.trail = undefined);
  trail.begin(recording, exchange);
  return trail;
}

function record({ sink, metrics }: Audit, trail: AuditTrail, event: AuditEvent): MaybePromise<boolean> {
  metrics.event();
  const { unsent } = trail;
  if (unsent === undefined) return sink.process([event]);
  trail.unsent = undefined;
  metrics.event();
  return sink.process([unsent, event]);
}

/** Where the next event is still to come, or is left out. */
function recordUnsent(options: Audit, trail: AuditTrail): void {
  const { unsent } = trail;
  if (unsent === undefined) return;
  trail.unsent = undefined;
  void record(options, trail, unsent);
}

const recordReached = (options: Audit, trail: AuditTrail, stage: 'ResponseStarted' | 'Panic'): MaybePromise<boolean> =>
  trail.omits[stage] || record(options, trail, trail.reached(stage));

// hot: for each request that is recorded.
function served(options: Audit, trail: AuditTrail, exchange: Exchange, next: Handler): MaybePromise<HttpResponse> {
  let answer: MaybePromise<HttpResponse>;
  try {
    answer = next(exchange);
  } catch (error) {
    answer = Promise.reject(error as Error);
  }
  if (!(answer instanceof Promise)) {
    const recorded = answered(options, trail, exchange, answer);
    recordUnsent(options, trail);
    return recorded;
  }
  recordUnsent(options, trail);
  return answer.then(
    (response) => answered(options, trail, exchange, response),
    (error: unknown) => panicked(options, trail, exchange, error),
  );
}

async function panicked(options: Audit, trail: AuditTrail, exchange: Exchange, error: unknown): Promise<never> {
  trail.impersonatedUser = impersonated(exchange);
  trail.panic(errorText(error));
  await recordReached(options, trail, 'Panic');
  throw error;
}

function answered(
  options: Audit,
  trail: AuditTrail,
  exchange: Exchange,
  response: HttpResponse,
): MaybePromise<HttpResponse> {
  trail.impersonatedUser = impersonated(exchange);
  const recorded = trail.answer(response);
  const end = (): MaybePromise<HttpResponse> => completed(options, trail, exchange, response);
  if (recorded instanceof Promise) return recorded.then(() => started(options, trail, exchange, end));
  return started(options, trail, exchange, end);
}

const started = (
  options: Audit,
  trail: AuditTrail,
  { longRunning }: Exchange,
  end: () => MaybePromise<HttpResponse>,
): MaybePromise<HttpResponse> =>
  longRunning ? whenReady(recordReached(options, trail, 'ResponseStarted'), end) : end();

const impersonated = ({ impersonator, user }: Exchange) => (impersonator === undefined ? undefined : user);

/** Records the end of the answer, which for one in pieces is still to come. */
function completed(
  options: Audit,
  trail: AuditTrail,
  exchange: Exchange,
  response: HttpResponse,
): MaybePromise<HttpResponse> {
  const { body, status } = response;
  if (isStream(body) && exchange.request.method !== 'HEAD') {
    return { ...response, body: recordedStream(options, trail, exchange, body) };
  }
  if (status === 101) {
    exchange.onFinish(() => void recordEnd(options, trail, exchange));
    return response;
  }
  const last = recordEnd(options, trail, exchange);
  return last instanceof Promise ? last.then(() => response) : response;
}

function recordedStream(options: Audit, trail: AuditTrail, exchange: Exchange, body: ResponseStream): ResponseStream {
  return {
    async stream(sink) {
      const startedMs = performance.now();
      try {
        await body.stream(sink);
      } catch (error) {
        // A client that is gone cuts the answer off; anything else is a bug of ours.
        if (sink.signal.aborted) await recordEnd(options, trail, exchange);
        else {
          trail.panic(errorText(error));
          await recordReached(options, trail, 'Panic');
        }
        throw error;
      }
      const ms = performance.now() - startedMs;
      // One goes along with the other.
      exchange.spent('serialize-response-object', ms);
      exchange.spent('response-write', ms);
      await recordEnd(options, trail, exchange);
    },
  };
}

function recordEnd(options: Audit, trail: AuditTrail, { latency }: Exchange): MaybePromise<boolean> {
  return trail.omits.ResponseComplete || record(options, trail, trail.complete(latency));
}
