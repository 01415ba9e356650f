// What is learnt of one request while it is served, for its audit events. Rooms on the way of a request know of it only
// `annotate` and what the object was that the client sent.
import type { HttpRequest, HttpResponse } from '../lib/http.js';
import type { RequestInfo } from '../machinery/request-info.js';
import type { RequestLatency } from '../machinery/request-latency.js';
import { formatDuration } from '../machinery/time.js';
import type { UserInfo } from '../machinery/user.js';
import { quoteJson } from '../schema/json/quote.js';
import { answeredJson } from './answered-json.js';
import type { AuditEvent, EventRequest, EventResponse, JsonBytes } from './event.js';
import { aboutRequest, referenceJson, utf8 } from './event-request.js';
import { responseOf, statusOf } from './event-response.js';
import { atLeast, type Level, type Stage } from './levels.js';
import { microTimeOf } from './micro-time.js';
import { patchJson } from './patch-json.js';
import type { Recording } from './policy.js';

/** The part of a trail that those who handle bodies see. */
export interface BodyTrail {
  /** `object` is what was sent, with its defaults; it may be changed afterwards. */
  requestObject(object: SentObject, encode: (object: object) => string): void;
  /** A patch is recorded as it came. */
  requestPatch(patch: Buffer): void;
  /** As `annotate`, but told only when the request is done. */
  annotateAtEnd(key: string, value: string): void;
}

export interface SentObject {
  readonly kind?: string;
  readonly metadata?: SentMetadata;
}

export interface SentMetadata {
  readonly name?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly managedFields?: unknown;
}

export interface Start {
  readonly recording: Recording;
  readonly request: HttpRequest;
  readonly info: RequestInfo;
  readonly auditId: string;
  /** Nobody where authentication failed. */
  readonly user: UserInfo | undefined;
  readonly receivedMs: number;
}

const SLOW_MS = 500;
const NONE: readonly [string, string][] = [];

export class AuditTrail implements BodyTrail {
  private annotations: Map<string, string> | undefined = undefined;
  private start: Start | undefined = undefined;
  /** When the request came, by the clock that tells microseconds. */
  private receivedAt = 0;
  private about: EventRequest | undefined = undefined;
  private auditId = '';
  private auditIdJson = '';
  private receivedTimestamp = '';
  private objectRef = '';
  private response: EventResponse | undefined = undefined;
  private sent: JsonBytes | undefined = undefined;
  private answered: JsonBytes | undefined = undefined;
  private atEnd: [key: string, value: string][] | undefined = undefined;
  /** Who the request acts as, when not as its sender. */
  impersonatedUser: UserInfo | undefined = undefined;

  /** The first value of a key stands. `level`: only from there on is it of interest. */
  annotate(key: string, value: string, level: Level = 'Metadata'): void {
    if (this.start !== undefined && !atLeast(this.start.recording.level, level)) return;
    this.annotations ??= new Map();
    if (!this.annotations.has(key)) this.annotations.set(key, value);
  }

  annotateAtEnd(key: string, value: string): void {
    (this.atEnd ??= []).push([key, value]);
  }

  /** The request is done; one that took long says where its time went. */
  end(latency: RequestLatency | undefined): void {
    for (const [key, value] of this.atEnd ?? NONE) this.annotate(key, value);
    const totalMs = performance.now() - this.receivedAt;
    if (totalMs <= SLOW_MS || latency === undefined) return;
    for (const [layer, ms] of [...latency.entries(), ['total', totalMs] as const]) {
      this.annotate(`apiserver.latency.k8s.io/${layer}`, formatDuration(BigInt(Math.round(ms * 1e6))));
    }
  }

  /** Called once it is known how much is recorded. */
  begin(start: Start): void {
    this.start = start;
    this.receivedAt = performance.now() - (Date.now() - start.receivedMs);
    this.receivedTimestamp = microTimeOf(start.receivedMs, 0);
    this.auditId = utf8(start.auditId);
    this.auditIdJson = quoteJson(this.auditId);
    this.about = aboutRequest(start);
    this.objectRef = this.about.objectRef;
  }

  requestObject(object: SentObject, encode: (object: object) => string): void {
    if (this.start === undefined) return;
    const { info, recording } = this.start;
    if (object.metadata !== undefined && info.isResourceRequest) this.objectRef = referenceJson(info, object.metadata);
    if (!atLeast(recording.level, 'Request')) return;
    this.sent = encode(recording.omitManagedFields ? withoutManagedFields(object) : object);
  }

  requestPatch(patch: Buffer): void {
    if (this.start === undefined || !atLeast(this.start.recording.level, 'Request')) return;
    this.sent = patchJson(patch);
  }

  /** The answer, once its head is known. */
  answer(answer: HttpResponse): void {
    if (this.start === undefined) return;
    const { level, omitManagedFields } = this.start.recording;
    const { status: code, object } = answer;
    this.response = responseOf(code, object?.form === 'status' ? statusOf(answeredJson(answer)) : undefined);
    if (object === undefined || !atLeast(level, 'RequestResponse')) return;
    this.answered = answeredJson(answer, omitManagedFields);
  }

  /** What nobody expected. */
  panic(message: string): void {
    this.response = responseOf(500, {
      status: 'Failure',
      reason: 'InternalError',
      message: `APIServer panic'd: ${message}`,
    });
  }

  isOmitted(stage: Stage): boolean {
    return this.start === undefined || this.start.recording.omitStages.has(stage);
  }

  /** The event of a stage, as things stand now. */
  event(stage: Stage): AuditEvent {
    const { start, about } = this;
    if (start === undefined || about === undefined) throw new Error('an event of a request that is not recorded');
    return {
      level: start.recording.level,
      stage,
      auditId: this.auditId,
      auditIdJson: this.auditIdJson,
      request: about,
      impersonatedUser: this.impersonatedUser,
      objectRef: this.objectRef,
      response: this.response,
      requestObject: this.sent,
      responseObject: this.answered,
      receivedTimestamp: this.receivedTimestamp,
      stageTimestamp:
        stage === 'RequestReceived'
          ? this.receivedTimestamp
          : microTimeOf(start.receivedMs, performance.now() - this.receivedAt),
      // Other stages may follow, and add to them.
      annotations: stage === 'ResponseComplete' ? this.annotations : copyOf(this.annotations),
    };
  }
}

const copyOf = (map: ReadonlyMap<string, string> | undefined): ReadonlyMap<string, string> | undefined =>
  map === undefined ? undefined : new Map(map);

function withoutManagedFields(object: SentObject): object {
  if (object.metadata?.managedFields === undefined) return object;
  const { managedFields: _managedFields, ...metadata } = object.metadata;
  return { ...object, metadata };
}
