// One audit event, as it stood when its stage was reached. Its parts are JSON already: an object that was encoded for
// the client, or that the client sent, is inserted as it is.
import type { UserInfo } from '../machinery/user.js';
import { quoteJson } from '../schema/json/quote.js';
import { annotationsJson, type Authorized } from './annotations.js';
import type { Level, Stage } from './levels.js';
import type { LineBlockBuilder } from './line-block.js';
import { microTimeOf } from './micro-time.js';

/** A JSON value, not yet in one piece with what stands around it. */
export type JsonBytes = string | Buffer;

export interface AuditEvent {
  readonly level: Level;
  readonly stage: Stage;
  readonly auditId: string;
  /** True when this server made the id, which then needs no escaping. */
  readonly hasOwnAuditId: boolean;
  /** What does not change from stage to stage. */
  readonly request: EventRequest;
  readonly impersonatedUser: UserInfo | undefined;
  /** The members of `objectRef`; empty for a request that is for no resource. */
  readonly objectRef: string;
  readonly response: EventResponse | undefined;
  readonly requestObject: JsonBytes | undefined;
  readonly responseObject: JsonBytes | undefined;
  readonly receivedMs: number;
  /** What passed from then until the stage was reached, in whole microseconds. */
  readonly elapsedUs: number;
  /** The decision of the authorizer; undefined before it. */
  readonly authorized: Authorized | undefined;
  /** All others. */
  readonly annotations: ReadonlyMap<string, string> | undefined;
}

/** Shared by all requests that say the same. */
export interface EventRequest {
  readonly uri: string;
  readonly verb: string;
  readonly user: UserInfo | undefined;
  readonly sourceIps: readonly string[];
  readonly userAgent: string;
  readonly namespace: string;
  /** As the path has it. */
  readonly objectRef: string;
  /** `"requestURI":…,"verb":…,"user":…` */
  readonly subjectJson: string;
  /** `,"sourceIPs":…,"userAgent":…` */
  readonly clientJson: string;
  /** Its last lines in a log; none where the request is hardly made again. */
  readonly patterns: LinePatterns | undefined;
}

/** By stage: the first, any other, and the first together with the last. */
export interface LinePatterns {
  received: LinePattern | undefined;
  reached: LinePattern | undefined;
  both: LinePattern | undefined;
}

/** A line that was encoded once, for the next events like its own. */
export interface LinePattern {
  /** Whether the line says what is to be said of `event`, and of `first` where it is two lines. */
  isOf(event: AuditEvent, first?: AuditEvent): boolean;
  /** Adds the line with the id, the objects and the times of `event`. */
  encode(event: AuditEvent, lines: LineBlockBuilder): void;
}

export interface EventResponse {
  readonly code: number;
  readonly json: string;
  /** It is but the code. */
  readonly plain: boolean;
}

/** What stands around the members of an event. */
export interface EventFrame {
  readonly head: string;
  readonly tail: string;
}

/** Encodes an event, in pieces. */
export function encodeEvent(event: AuditEvent, frame: EventFrame, output: (piece: JsonBytes) => void): void {
  const { auditId, requestObject, responseObject, receivedMs, elapsedUs } = event;
  output(headText(event, frame, event.hasOwnAuditId ? `"${auditId}"` : quoteJson(auditId)));
  if (requestObject !== undefined) {
    output(REQUEST_OBJECT);
    output(requestObject);
  }
  if (responseObject !== undefined) {
    output(RESPONSE_OBJECT);
    output(responseObject);
  }
  output(tailText(event, frame, microTimeOf(receivedMs, 0), microTimeOf(receivedMs, elapsedUs)));
}

// The members of an event, in their order. There is no other description of them.

/** Up to the id, which follows. */
export const upToId = (level: Level, frame: EventFrame): string => `${frame.head}"level":"${level}","auditID":`;

export function headText(event: AuditEvent, frame: EventFrame, auditIdJson: string): string {
  const { request, impersonatedUser, objectRef, response } = event;
  let text = `${upToId(event.level, frame)}${auditIdJson},"stage":"${event.stage}",${request.subjectJson}`;
  if (impersonatedUser !== undefined) text += `,"impersonatedUser":${userJson(impersonatedUser)}`;
  text += request.clientJson;
  if (objectRef !== '') text += `,"objectRef":{${objectRef}}`;
  if (response !== undefined) text += `,"responseStatus":${response.json}`;
  return text;
}

export const REQUEST_OBJECT = ',"requestObject":';
export const RESPONSE_OBJECT = ',"responseObject":';

export const UP_TO_RECEIVED = ',"requestReceivedTimestamp":"';
export const UP_TO_REACHED = '","stageTimestamp":"';

export function tailText(
  { authorized, annotations }: Pick<AuditEvent, 'authorized' | 'annotations'>,
  frame: EventFrame,
  received: string,
  reached: string,
): string {
  const noted = annotationsJson(authorized, annotations);
  return `${UP_TO_RECEIVED}${received}${UP_TO_REACHED}${reached}"${noted}${frame.tail}`;
}

const extraJson = (values: readonly string[] | null | undefined): string => (values ? listJson(values) : 'null');

export const byteLength = (piece: JsonBytes): number =>
  typeof piece === 'string' ? Buffer.byteLength(piece) : piece.length;

const users = new WeakMap<UserInfo, string>();

/** Users are shared by their requests. */
export function userJson(user: UserInfo): string {
  let text = users.get(user);
  if (text === undefined) {
    const { name, groups, uid = '', extra = {} } = user;
    const members: string[] = [];
    if (name !== '') members.push(`"username":${quoteJson(name)}`);
    if (uid !== '') members.push(`"uid":${quoteJson(uid)}`);
    if (groups.length > 0) members.push(`"groups":${listJson(groups)}`);
    const keys = Object.keys(extra).sort();
    if (keys.length > 0) {
      members.push(`"extra":{${keys.map((key) => `${quoteJson(key)}:${extraJson(extra[key])}`).join(',')}}`);
    }
    text = flat(`{${members.join(',')}}`);
    users.set(user, text);
  }
  return text;
}

/**
 * The same text in one piece. A text that was put together is a tree of its parts, walked each time it is encoded: what
 * is memoized is better flat.
 */
export const flat = (text: string): string => Buffer.from(text).toString();

export const listJson = (texts: readonly string[]): string => `[${texts.map(quoteJson).join(',')}]`;
