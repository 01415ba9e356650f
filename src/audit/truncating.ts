// Events that are too large lose the objects in them; what is too large even then is lost.
import { whenReady, type MaybePromise } from '../lib/async/maybe-promise.js';
import type { AuditBackend, OnLost } from './backend.js';
import { type AuditEvent, byteLength, encodeEvent } from './event.js';
import { atLeast } from './levels.js';
import { LINE_FRAME } from './encode-line.js';

export interface TruncatingOptions {
  readonly maxEventBytes: number;
  /** Events that are larger together are handed on one part after another. */
  readonly maxBatchBytes: number;
}

const ANNOTATION = 'audit.k8s.io/truncated';
const TOO_LARGE = 'event is too large even after truncating';

export function truncating(backend: AuditBackend, options: TruncatingOptions, onLost: OnLost): AuditBackend {
  const { maxEventBytes, maxBatchBytes } = options;
  const fitting = (event: AuditEvent): { readonly event: AuditEvent; readonly bytes: number } | undefined => {
    let fits = event;
    let bytes = sizeOf(event);
    if (bytes > maxEventBytes && atLeast(event.level, 'Request')) {
      fits = truncated(event);
      bytes = sizeOf(fits);
    }
    return bytes > maxEventBytes ? undefined : { event: fits, bytes };
  };
  return {
    isWaitedFor: backend.isWaitedFor,
    process(events) {
      const batches: AuditEvent[][] = [];
      const lost: AuditEvent[] = [];
      let room = 0;
      for (const event of events) {
        const kept = fitting(event);
        if (kept === undefined) {
          lost.push(event);
          continue;
        }
        if (batches.length === 0 || kept.bytes > room) {
          batches.push([]);
          room = maxBatchBytes;
        }
        room -= kept.bytes;
        batches.at(-1)?.push(kept.event);
      }
      if (lost.length > 0) onLost('truncate', TOO_LARGE, lost);
      let stored: MaybePromise<boolean> = true;
      for (const batch of batches) {
        stored = whenReady(stored, (before) => whenReady(backend.process(batch), (now) => before && now));
      }
      return stored;
    },
    close: () => backend.close(),
  };
}

/** By the line it would be in a log. */
function sizeOf(event: AuditEvent): number {
  let bytes = 0;
  encodeEvent(event, LINE_FRAME, (piece) => (bytes += byteLength(piece)));
  return bytes;
}

const truncated = (event: AuditEvent): AuditEvent => ({
  ...event,
  requestObject: undefined,
  responseObject: undefined,
  annotations: new Map(event.annotations).set(ANNOTATION, 'true'),
});
