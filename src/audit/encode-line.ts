// An event as a line of the log. Clients repeat the same few requests, and only the id and the times differ:
// the last line of a request is kept as a pattern, is copied, and those are put into the copy.
//
//   {"kind":"Event",…,"auditID":"____","stage":…,"responseStatus":…      head: objects come behind it
//   ,"requestReceivedTimestamp":"____","stageTimestamp":"____",…}        tail
//
// The first line of a request that was answered at once is encoded with the last: theirs is one pattern of two lines,
// the first in front of the head.
//
// Patterns are encoded by the functions that encode any event.
import { AUDIT_GROUP_VERSION } from '../machinery/names.js';
import type { Authorized } from './annotations.js';
import {
  type AuditEvent,
  type EventFrame,
  type EventResponse,
  type LinePattern,
  headText,
  encodeEvent,
  REQUEST_OBJECT,
  RESPONSE_OBJECT,
  tailText,
  UP_TO_REACHED,
  UP_TO_RECEIVED,
  upToId,
} from './event.js';
import type { Level, Stage } from './levels.js';
import { type LineBlockBuilder, writeSixDigits } from './line-block.js';
import { MICRO_TIME_LENGTH, MICROS_AT, microTimeOf } from './micro-time.js';

/** In a log an event says its kind and version. */
export const LINE_FRAME: EventFrame = {
  head: `{"kind":"Event","apiVersion":"${AUDIT_GROUP_VERSION}",`,
  tail: '}\n',
};

const BEFORE_REQUEST = Buffer.from(REQUEST_OBJECT);
const BEFORE_RESPONSE = Buffer.from(RESPONSE_OBJECT);

// hot: once for each request that is recorded.
export function encodeLines(events: readonly AuditEvent[], lines: LineBlockBuilder): void {
  const [first, last] = events;
  if (events.length === 2 && first !== undefined && last !== undefined && encodeBoth(first, last, lines)) return;
  for (const event of events) encodeLine(event, lines);
}

/** Encodes the first and the last event of one request; of others nothing. */
function encodeBoth(first: AuditEvent, last: AuditEvent, lines: LineBlockBuilder): boolean {
  const isOne =
    first.request === last.request && first.auditId === last.auditId && first.receivedMs === last.receivedMs;
  if (!isOne || first.stage !== 'RequestReceived') return false;
  const isBare = first.requestObject === undefined && first.responseObject === undefined && first.elapsedUs === 0;
  const { patterns } = last.request;
  if (!isBare || patterns === undefined || !isUsual(first) || !isUsual(last)) return false;
  const kept = patterns.both;
  const pattern = kept?.isOf(last, first) ? kept : (patterns.both = new EncodedLine(last, first));
  pattern.encode(last, lines);
  return true;
}

function encodeLine(event: AuditEvent, lines: LineBlockBuilder): void {
  const pattern = patternOf(event);
  if (pattern === undefined) {
    encodeEvent(event, LINE_FRAME, (piece) => void lines.add(piece));
    lines.endLine();
  } else pattern.encode(event, lines);
}

function patternOf(event: AuditEvent): LinePattern | undefined {
  const { patterns } = event.request;
  if (patterns === undefined || !isUsual(event)) return undefined;
  const isFirst = event.stage === 'RequestReceived';
  const kept = isFirst ? patterns.received : patterns.reached;
  if (kept?.isOf(event)) return kept;
  const pattern = new EncodedLine(event);
  if (isFirst) patterns.received = pattern;
  else patterns.reached = pattern;
  return pattern;
}

/** False where the event says something that hardly another says. */
const isUsual = (event: AuditEvent): boolean =>
  event.hasOwnAuditId &&
  event.auditId.length === NO_ID.length &&
  event.annotations === undefined &&
  event.impersonatedUser === undefined &&
  event.objectRef === event.request.objectRef &&
  (event.response === undefined || event.response.plain);

const NO_ID = '00000000-0000-0000-0000-000000000000';
const RECEIVED_AT = UP_TO_RECEIVED.length;
const REACHED_AT = RECEIVED_AT + MICRO_TIME_LENGTH + UP_TO_REACHED.length;
const MICROS_PER_SECOND = 1e6;

/** A line of one request, with the times of the last such request in it: those of the next are mostly of the same second. */
class EncodedLine implements LinePattern {
  private readonly level: Level;
  private readonly stage: Stage;
  private readonly response: EventResponse | undefined;
  private readonly authorized: Authorized | undefined;
  /** Of the line before it; without one, what is said of that is its own. */
  private readonly firstAuthorized: Authorized | undefined;
  private readonly firstResponse: EventResponse | undefined;
  /** The length of the line before it. */
  private readonly lineAt: number;
  private readonly idAt: number;
  private readonly whole: Buffer;
  private readonly head: Buffer;
  private readonly tail: Buffer;
  /** Where in the whole the moment stands at which the request came. */
  private readonly receivedAt: readonly number[];
  private receivedMs = 0;
  /** The part of a second that had passed then. */
  private receivedUs = 0;

  constructor(event: AuditEvent, first?: AuditEvent) {
    this.level = event.level;
    this.stage = event.stage;
    this.response = event.response;
    this.authorized = event.authorized;
    this.firstAuthorized = first?.authorized;
    this.firstResponse = first?.response;
    this.idAt = upToId(event.level, LINE_FRAME).length + 1;
    const firstParts = first === undefined ? NO_PARTS : partsOf(first);
    const parts = partsOf(event);
    this.lineAt = firstParts.head.length + firstParts.tail.length;
    this.whole = Buffer.concat([firstParts.head, firstParts.tail, parts.head, parts.tail]);
    const tailAt = this.lineAt + parts.head.length;
    this.head = this.whole.subarray(0, tailAt);
    this.tail = this.whole.subarray(tailAt);
    const tails = first === undefined ? [tailAt] : [firstParts.head.length, tailAt];
    this.receivedAt = tails.flatMap((at) => [at + RECEIVED_AT, at + REACHED_AT]);
  }

  isOf(event: AuditEvent, first?: AuditEvent): boolean {
    return (
      event.response === this.response &&
      event.authorized === this.authorized &&
      event.stage === this.stage &&
      event.level === this.level &&
      (first === undefined || (first.authorized === this.firstAuthorized && first.response === this.firstResponse))
    );
  }

  encode(event: AuditEvent, lines: LineBlockBuilder): void {
    const { requestObject, responseObject, receivedMs, elapsedUs } = event;
    if (receivedMs !== this.receivedMs) this.receive(receivedMs);
    const isWhole = requestObject === undefined && responseObject === undefined;
    const at = lines.add(isWhole ? this.whole : this.head);
    const { lineAt, idAt } = this;
    lines.putTwice(at + idAt, at + lineAt + idAt, event.auditId);
    if (lineAt > 0) lines.endLineAt(at + lineAt);
    let tailAt = at + this.head.length;
    if (!isWhole) {
      if (requestObject !== undefined) {
        lines.add(BEFORE_REQUEST);
        lines.add(requestObject);
      }
      if (responseObject !== undefined) {
        lines.add(BEFORE_RESPONSE);
        lines.add(responseObject);
      }
      tailAt = lines.add(this.tail);
    }
    if (elapsedUs !== 0) this.reach(tailAt + REACHED_AT, elapsedUs, lines);
    lines.endLine();
  }

  private reach(at: number, elapsedUs: number, lines: LineBlockBuilder): void {
    const reachedUs = this.receivedUs + elapsedUs;
    if (reachedUs < MICROS_PER_SECOND) lines.putSixDigits(at + MICROS_AT, reachedUs);
    else lines.putText(at, microTimeOf(this.receivedMs, elapsedUs));
  }

  private receive(ms: number): void {
    const isOfSameSecond = Math.floor(ms / 1000) === Math.floor(this.receivedMs / 1000);
    this.receivedMs = ms;
    this.receivedUs = (ms % 1000) * 1000;
    if (isOfSameSecond) for (const at of this.receivedAt) writeSixDigits(this.whole, at + MICROS_AT, this.receivedUs);
    else for (const at of this.receivedAt) this.whole.write(microTimeOf(ms, 0), at, 'latin1');
  }
}

const NOTHING = Buffer.alloc(0);
const NO_PARTS = { head: NOTHING, tail: NOTHING };
const NO_TIME = microTimeOf(0, 0);

const partsOf = (event: AuditEvent): { readonly head: Buffer; readonly tail: Buffer } => ({
  head: Buffer.from(headText(event, LINE_FRAME, `"${NO_ID}"`)),
  tail: Buffer.from(tailText(event, LINE_FRAME, NO_TIME, NO_TIME)),
});
