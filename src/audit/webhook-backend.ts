// Events sent to a webhook, in lists. A call that fails, whatever the reason, is made again a few times; then its events
// are lost.
import { Backoff } from '../lib/async/backoff.js';
import { errorText } from '../lib/text/error-text.js';
import { AUDIT_GROUP_VERSION } from '../machinery/names.js';
import type { AuditBackend, OnLost } from './backend.js';
import { type AuditEvent, type EventFrame, type JsonBytes, encodeEvent } from './event.js';

export interface WebhookOptions {
  /** Makes one call, its body in pieces; rejects unless the answer is one of success. */
  readonly post: (body: readonly Buffer[]) => Promise<void>;
  readonly initialBackoffMs: number;
  readonly pause: (ms: number) => Promise<void>;
  /** From 0 to 1. */
  readonly random: () => number;
  readonly onLost: OnLost;
}

const MAX_CALLS = 5;
const BACKOFF_FACTOR = 1.5;
const BACKOFF_JITTER = 0.2;

export function createWebhookBackend(options: WebhookOptions): AuditBackend {
  const { post, pause, random, onLost } = options;
  const deliver = async (events: readonly AuditEvent[]): Promise<void> => {
    const body = eventList(events);
    const jitter = { part: BACKOFF_JITTER, random };
    const backoff = new Backoff({ firstMs: options.initialBackoffMs, factor: BACKOFF_FACTOR, jitter });
    for (let calls = 1; ; calls++) {
      try {
        return await post(body);
      } catch (error) {
        if (calls === MAX_CALLS) throw error;
      }
      await pause(backoff.next());
    }
  };
  return {
    isWaitedFor: true,
    async process(events) {
      try {
        await deliver(events);
        return true;
      } catch (error) {
        onLost('webhook', errorText(error), events);
        return false;
      }
    },
    close: () => Promise.resolve(),
  };
}

const LIST_HEAD = `{"kind":"EventList","apiVersion":"${AUDIT_GROUP_VERSION}","metadata":{},"items":[`;
/** In a list an event does not say its kind and version. */
const ITEM_FRAME: EventFrame = { head: '{', tail: '}' };

function eventList(events: readonly AuditEvent[]): readonly Buffer[] {
  const pieces: Buffer[] = [];
  const output = (piece: JsonBytes): void => void pieces.push(typeof piece === 'string' ? Buffer.from(piece) : piece);
  output(LIST_HEAD);
  for (const [index, event] of events.entries()) {
    if (index > 0) output(',');
    encodeEvent(event, ITEM_FRAME, output);
  }
  output(']}\n');
  return pieces;
}
