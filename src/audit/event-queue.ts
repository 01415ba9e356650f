import type { MaybePromise } from '../lib/async/maybe-promise.js';
import type { AuditBackend } from './backend.js';
import { type AuditEvent, byteLength } from './event.js';

/** Events that wait to be stored, in the form that suits where they go. */
export interface EventQueue {
  readonly length: number;
  /** About. */
  readonly bytes: number;
  add(events: readonly AuditEvent[]): void;
  /** Takes the first `count` out; what is answered stores them, and says what `AuditBackend.process` says. */
  take(count: number): () => MaybePromise<boolean>;
  /** Nothing comes any more. */
  close(): Promise<void>;
}

/** An event without its objects, about. */
const EVENT_BYTES = 1024;

/** Keeps events as they are. */
export class PlainQueue implements EventQueue {
  private events: AuditEvent[] = [];
  private sum = 0;

  constructor(private readonly backend: AuditBackend) {}

  get length(): number {
    return this.events.length;
  }

  get bytes(): number {
    return this.sum;
  }

  add(events: readonly AuditEvent[]): void {
    for (const event of events) {
      this.events.push(event);
      this.sum += sizeOf(event);
    }
  }

  take(count: number): () => MaybePromise<boolean> {
    const batch = this.events.slice(0, count);
    this.events = this.events.slice(count);
    for (const event of batch) this.sum -= sizeOf(event);
    return () => this.backend.process(batch);
  }

  close(): Promise<void> {
    return this.backend.close();
  }
}

const sizeOf = ({ requestObject, responseObject }: AuditEvent): number =>
  EVENT_BYTES +
  (requestObject === undefined ? 0 : byteLength(requestObject)) +
  (responseObject === undefined ? 0 : byteLength(responseObject));
