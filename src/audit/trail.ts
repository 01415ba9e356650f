// What is learnt of one request while it is served, for its audit events. Rooms on the way of a request know of it only
// `annotate` and what the object was that the client sent.
import type { HttpRequest, HttpResponse } from '../lib/http.js';
import type { RequestInfo } from '../machinery/request-info.js';
import type { Status } from '../machinery/status.js';
import type { UserInfo } from '../machinery/user.js';
import { metaType } from '../schema/catalogue.js';
import { encodeJson } from '../schema/json/encode.js';
import { quoteJson } from '../schema/json/quote.js';
import { answeredJson } from './answered-json.js';
import { type AuditEvent, type EventRequest, type EventResponse, type JsonBytes, listJson, userJson } from './event.js';
import { atLeast, type Level, type Stage } from './levels.js';
import { patchJson } from './patch-json.js';
import type { Recording } from './policy.js';
import { sourceIps } from './source-ips.js';
import { microTimeOf } from './micro-time.js';

/** The part of a trail that those who handle bodies see. */
export interface BodyTrail {
  /** `object` is what was sent, with its defaults; it may be changed afterwards. */
  requestObject(object: SentObject, encode: (object: object) => string): void;
  /** A patch is recorded as it came. */
  requestPatch(patch: Buffer): void;
}

export interface SentObject {
  readonly kind?: string;
  readonly metadata?: {
    readonly name?: string;
    readonly namespace?: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
    readonly managedFields?: unknown;
  };
}

export interface Started {
  readonly recording: Recording;
  readonly request: HttpRequest;
  readonly info: RequestInfo;
  readonly auditId: string;
  /** Nobody where authentication failed. */
  readonly user: UserInfo | undefined;
  readonly receivedMs: number;
  readonly uri: string;
}

const MOST_USER_AGENT_BYTES = 1024;

export class AuditTrail implements BodyTrail {
  private annotations: Map<string, string> | undefined = undefined;
  private started: (Started & { readonly about: EventRequest; readonly startedAt: number }) | undefined = undefined;
  private objectRef: ObjectReference | undefined = undefined;
  private objectRefJson = '';
  private response: EventResponse | undefined = undefined;
  private sent: JsonBytes | undefined = undefined;
  private answered: JsonBytes | undefined = undefined;
  /** Who the request acts as, when not as its sender. */
  impersonatedUser: UserInfo | undefined = undefined;

  /** The first value of a key stands. `level`: only from there on is it of interest. */
  annotate(key: string, value: string, level: Level = 'Metadata'): void {
    if (this.started !== undefined && !atLeast(this.started.recording.level, level)) return;
    this.annotations ??= new Map();
    if (!this.annotations.has(key)) this.annotations.set(key, value);
  }

  /** Called once it is known how much is recorded. */
  start(start: Started): void {
    const { request, info, user, receivedMs } = start;
    const agent = utf8(request.headers['user-agent'] ?? '');
    const userAgent = shortened(agent);
    const ips = sourceIps(request);
    this.started = {
      ...start,
      // The time since the request came, to the microsecond, on top of when it came.
      startedAt: performance.now() - (Date.now() - receivedMs),
      about: {
        uri: start.uri,
        verb: info.verb,
        user,
        sourceIps: ips,
        userAgent,
        namespace: info.namespace,
        receivedTimestamp: microTimeOf(receivedMs, 0),
        who: `"requestURI":${quoteJson(start.uri)},"verb":${quoteJson(info.verb)},"user":${user === undefined ? '{}' : userJson(user)}`,
        whence:
          (ips.length === 0 ? '' : `,"sourceIPs":${listJson(ips)}`) +
          (userAgent === '' ? '' : `,"userAgent":${quoteJson(userAgent)}`),
      },
    };
    if (info.isResourceRequest) this.objectRefJson = referenceJson(info, NOTHING);
  }

  requestObject(object: SentObject, encode: (object: object) => string): void {
    if (this.started === undefined) return;
    const { info, recording } = this.started;
    this.objectRef ??= info.isResourceRequest ? object.metadata : undefined;
    if (this.objectRef !== undefined) this.objectRefJson = referenceJson(info, this.objectRef);
    if (!atLeast(recording.level, 'Request')) return;
    this.sent = encode(recording.omitManagedFields ? withoutManagedFields(object) : object);
  }

  requestPatch(patch: Buffer): void {
    if (this.started === undefined || !atLeast(this.started.recording.level, 'Request')) return;
    this.sent = patchJson(patch);
  }

  /** The answer, once its head is known. */
  answer(answer: HttpResponse): void {
    if (this.started === undefined) return;
    const { recording } = this.started;
    const { status: code, object } = answer;
    const status = object?.form === 'status' ? statusOf(answeredJson(answer)) : undefined;
    this.response = status === undefined && code === 200 ? PLAIN_SUCCESS : responseOf(code, status);
    if (object === undefined || !atLeast(recording.level, 'RequestResponse')) return;
    this.answered = answeredJson(answer, recording.omitManagedFields);
  }

  /** What nobody expected. */
  panic(message: string): void {
    const status = { status: 'Failure' as const, reason: 'InternalError', message: `APIServer panic'd: ${message}` };
    this.response = responseOf(500, status);
  }

  isOmitted(stage: Stage): boolean {
    return this.started === undefined || this.started.recording.omitStages.has(stage);
  }

  /** The event of a stage, as things stand now. */
  event(stage: Stage): AuditEvent {
    const { started } = this;
    if (started === undefined) throw new Error('an event of a request whose recording has not begun');
    const { about, receivedMs, startedAt } = started;
    return {
      level: started.recording.level,
      stage,
      auditId: started.auditId,
      request: about,
      impersonatedUser: this.impersonatedUser,
      objectRef: this.objectRefJson,
      response: this.response,
      requestObject: this.sent,
      responseObject: this.answered,
      stageTimestamp:
        stage === 'RequestReceived' ? about.receivedTimestamp : microTimeOf(receivedMs, performance.now() - startedAt),
      // Other stages may follow, and add to them.
      annotations: stage === 'ResponseComplete' ? this.annotations : copyOf(this.annotations),
    };
  }
}

const copyOf = (map: ReadonlyMap<string, string> | undefined): ReadonlyMap<string, string> | undefined =>
  map === undefined ? undefined : new Map(map);

type ObjectReference = NonNullable<SentObject['metadata']>;
const NOTHING: ObjectReference = {};

/** What the path leaves open is taken from the object that was sent. */
function referenceJson(info: RequestInfo, { name, namespace, uid, resourceVersion }: ObjectReference): string {
  let text = `"resource":${quoteJson(info.resource)}`;
  const add = (member: string, value: string | undefined): void => {
    if (value !== undefined && value !== '') text += `,"${member}":${quoteJson(value)}`;
  };
  add('namespace', info.namespace || namespace);
  add('name', info.name || name);
  add('uid', uid);
  add('apiGroup', info.apiGroup);
  add('apiVersion', info.apiVersion);
  add('resourceVersion', resourceVersion);
  add('subresource', info.subresource);
  return text;
}

function withoutManagedFields(object: SentObject): object {
  if (object.metadata?.managedFields === undefined) return object;
  const { managedFields: _managedFields, ...metadata } = object.metadata;
  return { ...object, metadata };
}

type KnownStatus = Pick<Status, 'status' | 'message' | 'reason' | 'details'>;

const statusOf = (json: JsonBytes): KnownStatus => JSON.parse(json.toString()) as Status;

function responseOf(code: number, known: KnownStatus | undefined): EventResponse {
  if (known === undefined) return { code, json: `{"metadata":{},"code":${code}}` };
  const { status, message, reason, details } = known;
  return { code, json: encodeJson(metaType('Status'), { metadata: {}, status, message, reason, details, code }) };
}

const PLAIN_SUCCESS = responseOf(200, undefined);

/** Node reads headers as one character a byte; the text is UTF-8. */
export function utf8(header: string): string {
  // oxlint-disable-next-line no-control-regex
  return /^[\x00-\x7f]*$/.test(header) ? header : Buffer.from(header, 'latin1').toString('utf8');
}

function shortened(agent: string): string {
  if (agent.length <= MOST_USER_AGENT_BYTES && Buffer.byteLength(agent) <= MOST_USER_AGENT_BYTES) return agent;
  return `${Buffer.from(agent).subarray(0, MOST_USER_AGENT_BYTES).toString('utf8')}...TRUNCATED`;
}
