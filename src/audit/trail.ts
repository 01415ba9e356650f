// What is learnt of one request while it is served, for its audit events. Rooms on the way of a request know of it only
// `annotate` and what the object was that the client sent.
import type { WorkerPool } from '../lib/async/worker-pool.js';
import { headerText } from '../lib/http/header-text.js';
import type { HttpRequest, HttpResponse } from '../lib/http/http.js';
import { type MaybePromise, whenReady } from '../lib/async/maybe-promise.js';
import type { RequestInfo } from '../machinery/request-info.js';
import type { RequestLatency } from '../machinery/request-latency.js';
import { formatDurationMs } from '../machinery/time.js';
import type { UserInfo } from '../machinery/user.js';
import { type Authorized, authorized, type Decision } from './annotations.js';
import { answeredJson, unmanagedJson } from './answered-json.js';
import type { AuditEvent, EventRequest, EventResponse, JsonBytes } from './event.js';
import { aboutRequest, referenceJson } from './event-request.js';
import { responseOf, responseOfStatus } from './event-response.js';
import { atLeast, type Level, type Stage } from './levels.js';
import { recordedPatch } from './patch-json.js';
import type { Recording } from './policy.js';
import type { SentObject, SentMetadata } from './sent-object.js';

/** The part of a trail that those who handle bodies see. */
export interface BodyTrail {
  /** `object` is what was sent, with its defaults; it may be changed afterwards. */
  requestObject(object: SentObject, encode: (object: object) => string): void;
  /** How much of an object `requestEncoded` wants. */
  readonly wantsSent: SentWanted;
  /** Instead of requestObject: what the object says of itself, and its encoding where that is wanted. */
  requestEncoded(metadata: SentMetadata, json: Buffer | undefined): void;
  /** Records a patch as it came. `workers` parse a large one. */
  requestPatch(patch: Buffer, workers?: WorkerPool): MaybePromise<void>;
  /** Annotates the last event alone, when the request is done. */
  annotateAtEnd(key: string, value: string): void;
}

/** Who it is; all of it; all but its managed fields. */
export type SentWanted = 'reference' | 'whole' | 'unmanaged';

/** What is known of a request when it is decided that it is recorded. */
export interface Recorded {
  readonly request: HttpRequest;
  readonly info: RequestInfo;
  readonly auditId: string;
  /** True when this server made the id, which then needs no escaping. */
  readonly hasOwnAuditId: boolean;
  /** Nobody where authentication failed. */
  readonly user: UserInfo | undefined;
  readonly receivedMs: number;
  /** The same moment, by the clock of microseconds. */
  readonly startedMs: number;
}

const SLOW_MS = 500;
const EVERYTHING = { RequestReceived: true, ResponseStarted: true, ResponseComplete: true, Panic: true };

export class AuditTrail implements BodyTrail {
  private annotations: Map<string, string> | undefined = undefined;
  private decided: Authorized | undefined = undefined;
  private of: Recorded | undefined = undefined;
  private recording: Recording | undefined = undefined;
  private about: EventRequest | undefined = undefined;
  private auditId = '';
  private objectRef = '';
  private response: EventResponse | undefined = undefined;
  private sent: JsonBytes | undefined = undefined;
  private answered: JsonBytes | undefined = undefined;
  private atEnd: [key: string, value: string][] | undefined = undefined;
  /** The first event, until it is recorded. */
  unsent: AuditEvent | undefined = undefined;
  /** Who the request acts as, when not as its sender. */
  impersonatedUser: UserInfo | undefined = undefined;
  /** Where time goes in every request. */
  authenticationMs = 0;
  authorizationMs = 0;
  /** Of one that found a seat at once. */
  seatedMs = 0;

  /** The first value of a key stands. `level`: only from there on is it of interest. */
  annotate(key: string, value: string, level: Level = 'Metadata'): void {
    if (this.recording !== undefined && !atLeast(this.recording.level, level)) return;
    this.annotations ??= new Map();
    if (!this.annotations.has(key)) this.annotations.set(key, value);
  }

  annotateAtEnd(key: string, value: string): void {
    (this.atEnd ??= []).push([key, value]);
  }

  // hot: for each request that is recorded.
  /** What nearly every request is annotated with. */
  authorized(decision: Decision, reason: string): void {
    this.decided ??= authorized(decision, reason);
  }

  /** Called once it is known how much is recorded. */
  begin(recording: Recording, of: Recorded): void {
    this.recording = recording;
    this.of = of;
    this.about = aboutRequest(of.request, of.info, of.user);
    this.objectRef = this.about.objectRef;
    this.auditId = of.hasOwnAuditId ? of.auditId : headerText(of.auditId);
  }

  requestObject(object: SentObject, encode: (object: object) => string): void {
    if (this.recording === undefined) return;
    if (object.metadata !== undefined) this.refer(object.metadata);
    this.sent = sentJson(object, this.wantsSent, encode);
  }

  get wantsSent(): SentWanted {
    const { recording } = this;
    if (recording === undefined || !atLeast(recording.level, 'Request')) return 'reference';
    return recording.omitManagedFields ? 'unmanaged' : 'whole';
  }

  requestEncoded(metadata: SentMetadata, json: Buffer | undefined): void {
    this.refer(metadata);
    this.sent = json;
  }

  private refer(metadata: SentMetadata): void {
    const info = this.of?.info;
    if (info?.isResourceRequest) this.objectRef = referenceJson(info, metadata);
  }

  requestPatch(patch: Buffer, workers?: WorkerPool): MaybePromise<void> {
    if (this.wantsSent === 'reference') return undefined;
    return whenReady(recordedPatch(patch, workers), (sent) => {
      this.sent = sent;
    });
  }

  /** The answer, once its head is known; later where it is to be recorded and is large. */
  answer(answer: HttpResponse): MaybePromise<void> {
    if (this.recording === undefined) return undefined;
    const { level, omitManagedFields } = this.recording;
    const { status: code, object } = answer;
    const isStatus = object?.form === 'status';
    if (!isStatus) this.response = responseOf(code, undefined);
    if (object === undefined) return undefined;
    const isKept = atLeast(level, 'RequestResponse');
    if (!isStatus && !isKept) return undefined;
    return whenReady(answeredJson(answer), (json) => {
      if (isStatus) this.response = responseOfStatus(code, json);
      if (!isKept) return undefined;
      const kept = omitManagedFields ? unmanagedJson(json, object.form) : json;
      return whenReady(kept, (answered) => void (this.answered = answered));
    });
  }

  /** What nobody expected. */
  panic(message: string): void {
    this.response = responseOf(500, {
      status: 'Failure',
      reason: 'InternalError',
      message: `APIServer panic'd: ${message}`,
    });
  }

  /** Which stages leave no event. */
  get omits(): Recording['omits'] {
    return this.recording?.omits ?? EVERYTHING;
  }

  /** The first event, of the moment at which the request came. */
  received(): AuditEvent {
    return this.event('RequestReceived', 0);
  }

  /** Of a stage on the way, or of an end that nobody expected. */
  reached(stage: 'ResponseStarted' | 'Panic'): AuditEvent {
    return this.event(stage, this.elapsedMs());
  }

  /** The request is done. One that took long says where its time went. */
  complete(latency: RequestLatency | undefined): AuditEvent {
    const elapsedMs = this.elapsedMs();
    if (this.atEnd !== undefined) for (const [key, value] of this.atEnd) this.annotate(key, value);
    if (elapsedMs > SLOW_MS) this.annotateLatency(latency, elapsedMs);
    return this.event('ResponseComplete', elapsedMs);
  }

  private elapsedMs(): number {
    return this.of === undefined ? 0 : performance.now() - this.of.startedMs;
  }

  /** As things stand now. */
  private event(stage: Stage, elapsedMs: number): AuditEvent {
    const { of, recording, about } = this;
    if (of === undefined || recording === undefined || about === undefined) {
      throw new Error('an event of a request that is not recorded');
    }
    return {
      level: recording.level,
      stage,
      auditId: this.auditId,
      hasOwnAuditId: of.hasOwnAuditId,
      request: about,
      impersonatedUser: this.impersonatedUser,
      objectRef: this.objectRef,
      response: this.response,
      requestObject: this.sent,
      responseObject: this.answered,
      receivedMs: of.receivedMs,
      elapsedUs: Math.max(0, Math.round(elapsedMs * 1000)),
      authorized: this.decided,
      // Other stages may follow, and add to them.
      annotations: stage === 'ResponseComplete' ? this.annotations : copyOf(this.annotations),
    };
  }

  private annotateLatency(latency: RequestLatency | undefined, totalMs: number): void {
    // How long a watch is, its client decides.
    if (this.of?.info.verb === 'watch') return;
    const layers: readonly (readonly [layer: string, ms: number])[] = [
      ['authentication', this.authenticationMs],
      ['authorization', this.authorizationMs],
      ['apf-queue-wait', this.seatedMs],
      ...(latency?.entries() ?? []),
      ['total', totalMs],
    ];
    for (const [layer, ms] of layers) {
      if (ms > 0) this.annotate(`apiserver.latency.k8s.io/${layer}`, formatDurationMs(ms));
    }
  }
}

const copyOf = (map: ReadonlyMap<string, string> | undefined): ReadonlyMap<string, string> | undefined =>
  map === undefined ? undefined : new Map(map);

/** What is recorded of an object that was sent. */
export function sentJson(
  object: SentObject,
  wanted: SentWanted,
  encode: (object: object) => string,
): string | undefined {
  if (wanted === 'reference') return undefined;
  return encode(wanted === 'unmanaged' ? withoutManagedFields(object) : object);
}

function withoutManagedFields(object: SentObject): object {
  if (object.metadata?.managedFields === undefined) return object;
  const { managedFields: _managedFields, ...metadata } = object.metadata;
  return { ...object, metadata };
}
