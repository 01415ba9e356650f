// One audit event, as it stood when its stage was reached. Its parts are JSON already: an object that was encoded for
// the client, or that the client sent, is laid in as it is.
import { remember } from '../lib/remember.js';
import type { UserInfo } from '../machinery/user.js';
import { quoteJson } from '../schema/json/quote.js';
import type { Level, Stage } from './levels.js';

/** A JSON value, not yet in one piece with what stands around it. */
export type JsonBytes = string | Buffer;

export interface AuditEvent {
  readonly level: Level;
  readonly stage: Stage;
  readonly auditId: string;
  /** The same in JSON. */
  readonly auditIdJson: string;
  /** What does not change from stage to stage. */
  readonly request: EventRequest;
  readonly impersonatedUser: UserInfo | undefined;
  /** The members of `objectRef`; empty for a request that is for no resource. */
  readonly objectRef: string;
  readonly response: EventResponse | undefined;
  readonly requestObject: JsonBytes | undefined;
  readonly responseObject: JsonBytes | undefined;
  readonly receivedTimestamp: string;
  readonly stageTimestamp: string;
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
  readonly who: string;
  /** `,"sourceIPs":…,"userAgent":…` */
  readonly whence: string;
  /**
   * All that is said of the request and of an answer that says nothing of itself but its code, by that code; none where
   * the request is hardly made again.
   */
  readonly said: Map<number, Buffer> | undefined;
}

export interface EventResponse {
  readonly code: number;
  readonly json: string;
  /** It is but the code. */
  readonly plain: boolean;
}

// hot: twice for each request that is recorded.
/**
 * The event's members, without the braces around them: kind and version come first in a log and are left out in a list.
 * Strings and bytes by turns, to be joined by whoever writes them.
 */
export function eventPieces(event: AuditEvent): readonly JsonBytes[] {
  const { requestObject, responseObject } = event;
  const pieces: JsonBytes[] = [];
  let text = `"level":"${event.level}","auditID":${event.auditIdJson},"stage":"${event.stage}",`;
  const said = rememberedSaid(event);
  if (said === undefined) text += saidOf(event);
  else {
    pieces.push(text, said);
    text = '';
  }
  if (requestObject !== undefined) {
    pieces.push(`${text},"requestObject":`, requestObject);
    text = '';
  }
  if (responseObject !== undefined) {
    pieces.push(`${text},"responseObject":`, responseObject);
    text = '';
  }
  text += `,"requestReceivedTimestamp":"${event.receivedTimestamp}","stageTimestamp":"${event.stageTimestamp}"`;
  if (event.annotations !== undefined) text += `,"annotations":${annotationsJson(event.annotations)}`;
  pieces.push(text);
  return pieces;
}

/** Who asked for what from where, and what code was answered: the same bytes for most requests of a client. */
function rememberedSaid(event: AuditEvent): Buffer | undefined {
  const { request, response } = event;
  if (request.said === undefined) return undefined;
  if (event.impersonatedUser !== undefined || event.objectRef !== request.objectRef) return undefined;
  if (response !== undefined && !response.plain) return undefined;
  const code = response?.code ?? 0;
  let said = request.said.get(code);
  if (said === undefined) request.said.set(code, (said = Buffer.from(saidOf(event))));
  return said;
}

function saidOf({ request, impersonatedUser, objectRef, response }: AuditEvent): string {
  let text = request.who;
  if (impersonatedUser !== undefined) text += `,"impersonatedUser":${userJson(impersonatedUser)}`;
  text += request.whence;
  if (objectRef !== '') text += `,"objectRef":{${objectRef}}`;
  if (response !== undefined) text += `,"responseStatus":${response.json}`;
  return text;
}

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
      members.push(`"extra":{${keys.map((key) => `${quoteJson(key)}:${listJson(extra[key] ?? [])}`).join(',')}}`);
    }
    text = flat(`{${members.join(',')}}`);
    users.set(user, text);
  }
  return text;
}

/**
 * The same text in one piece. A text that was put together is a tree of its parts, walked each time it is printed: what
 * is remembered is better flat.
 */
export const flat = (text: string): string => Buffer.from(text).toString();

export const listJson = (texts: readonly string[]): string => `[${texts.map(quoteJson).join(',')}]`;

function annotationsJson(annotations: ReadonlyMap<string, string>): string {
  let text = '';
  let last = '';
  for (const [key, value] of annotations) {
    // They are printed in the order of their keys, which mostly is the order they come in.
    if (key < last) return annotationsJson(new Map([...annotations].sort(([a], [b]) => (a < b ? -1 : 1))));
    last = key;
    text += `${text === '' ? '{' : ','}${quotedOften(key)}:${quotedOften(value)}`;
  }
  return `${text}}`;
}

const MOST_QUOTED = 1024;
/** In characters: what is longer is hardly said twice. */
const LONGEST_QUOTED = 128;
const remembered = remember(MOST_QUOTED, quoteJson);

/** Keys, and most values, are said over and over. */
const quotedOften = (text: string): string => (text.length > LONGEST_QUOTED ? quoteJson(text) : remembered(text));
