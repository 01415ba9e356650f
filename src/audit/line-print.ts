// An event as a line of the log. Clients ask for the same few things over and over, and but the id and the times differ:
// the last line of a request is kept as a pattern, is copied, and those are put into the copy.
//
//   {"kind":"Event",…,"auditID":"____","stage":…,"responseStatus":…      head: objects come behind it
//   ,"requestReceivedTimestamp":"____","stageTimestamp":"____",…}        tail
//
// Patterns are printed by the functions that print any event.
import { AUDIT_GROUP_VERSION } from '../machinery/names.js';
import type { Authorized } from './annotations.js';
import {
  type AuditEvent,
  type EventFrame,
  type EventResponse,
  headText,
  printEvent,
  REQUEST_OBJECT,
  RESPONSE_OBJECT,
  tailText,
  UP_TO_REACHED,
  UP_TO_RECEIVED,
  upToId,
} from './event.js';
import type { Level, Stage } from './levels.js';
import type { LineBlockBuilder } from './line-block.js';
import { MICRO_TIME_LENGTH, MICROS_AT, microTimeOf } from './micro-time.js';

/** In a log an event says its kind and version. */
export const LINE_FRAME: EventFrame = {
  head: `{"kind":"Event","apiVersion":"${AUDIT_GROUP_VERSION}",`,
  tail: '}\n',
};

const BEFORE_REQUEST = Buffer.from(REQUEST_OBJECT);
const BEFORE_RESPONSE = Buffer.from(RESPONSE_OBJECT);

// hot: twice for each request that is recorded.
export function printLine(event: AuditEvent, lines: LineBlockBuilder): void {
  const pattern = patternOf(event);
  if (pattern === undefined) printEvent(event, LINE_FRAME, (piece) => void lines.add(piece));
  else pattern.print(event, lines);
  lines.endLine();
}

/** Undefined where the event says something that hardly another says. */
function patternOf(event: AuditEvent): LinePattern | undefined {
  const { request, response, stage } = event;
  const { patterns } = request;
  if (patterns === undefined || event.annotations !== undefined || event.impersonatedUser !== undefined)
    return undefined;
  if (!event.hasOwnAuditId || event.auditId.length !== NO_ID.length) return undefined;
  if (event.objectRef !== request.objectRef || (response !== undefined && !response.plain)) return undefined;
  const isFirst = stage === 'RequestReceived';
  const last = isFirst ? patterns.received : patterns.reached;
  if (last?.isOf(event)) return last;
  const pattern = new LinePattern(event);
  if (isFirst) patterns.received = pattern;
  else patterns.reached = pattern;
  return pattern;
}

const NO_ID = '00000000-0000-0000-0000-000000000000';
const RECEIVED_AT = UP_TO_RECEIVED.length;
const REACHED_AT = RECEIVED_AT + MICRO_TIME_LENGTH + UP_TO_REACHED.length;
const MICROS_PER_SECOND = 1e6;

/** A line of one request, with the times of the last such request in it: those of the next are mostly of the same second. */
export class LinePattern {
  private readonly level: Level;
  private readonly stage: Stage;
  private readonly response: EventResponse | undefined;
  private readonly authorized: Authorized | undefined;
  private readonly idAt: number;
  private readonly whole: Buffer;
  private readonly head: Buffer;
  private readonly tail: Buffer;
  private receivedMs = 0;
  /** The part of a second that had passed then. */
  private receivedUs = 0;

  constructor(event: AuditEvent) {
    this.level = event.level;
    this.stage = event.stage;
    this.response = event.response;
    this.authorized = event.authorized;
    this.idAt = upToId(event.level, LINE_FRAME).length + 1;
    const head = Buffer.from(headText(event, LINE_FRAME, `"${NO_ID}"`));
    const time = microTimeOf(this.receivedMs, 0);
    this.whole = Buffer.concat([head, Buffer.from(tailText(event, LINE_FRAME, time, time))]);
    this.head = this.whole.subarray(0, head.length);
    this.tail = this.whole.subarray(head.length);
  }

  isOf(event: AuditEvent): boolean {
    return (
      event.response === this.response &&
      event.authorized === this.authorized &&
      event.stage === this.stage &&
      event.level === this.level
    );
  }

  print(event: AuditEvent, lines: LineBlockBuilder): void {
    const { requestObject, responseObject, receivedMs, elapsedUs } = event;
    if (receivedMs !== this.receivedMs) this.receive(receivedMs);
    let tailAt: number;
    if (requestObject === undefined && responseObject === undefined) {
      const at = lines.add(this.whole);
      lines.putText(at + this.idAt, event.auditId);
      tailAt = at + this.head.length;
    } else {
      lines.putText(lines.add(this.head) + this.idAt, event.auditId);
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
    if (elapsedUs === 0) return;
    const reachedUs = this.receivedUs + elapsedUs;
    if (reachedUs < MICROS_PER_SECOND) lines.putSixDigits(tailAt + REACHED_AT + MICROS_AT, reachedUs);
    else lines.putText(tailAt + REACHED_AT, microTimeOf(receivedMs, elapsedUs));
  }

  private receive(ms: number): void {
    this.receivedMs = ms;
    this.receivedUs = (ms % 1000) * 1000;
    const time = microTimeOf(ms, 0);
    this.tail.write(time, RECEIVED_AT, 'latin1');
    this.tail.write(time, REACHED_AT, 'latin1');
  }
}
