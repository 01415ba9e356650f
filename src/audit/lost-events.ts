// What becomes of an event that could not be recorded: it is counted, and written to the server's own log.
import type { Clock } from '../lib/async/clock.js';
import { errorText } from '../lib/text/error-text.js';
import type { Logger } from '../lib/telemetry/log.js';
import type { AuditPlugin, OnLost } from './backend.js';
import { legacyLine } from './legacy-line.js';

export interface LostEventsOptions {
  readonly log: Logger;
  readonly count: (plugin: AuditPlugin, events: number) => void;
  readonly clock: Clock;
}

/** A disk that is full loses all events: the server's log must not drown in them. */
const MAX_REPORTED_PER_SECOND = 100;

export function lostEvents({ log, count, clock }: LostEventsOptions): OnLost {
  let second = 0;
  let logged = 0;
  let unlogged = 0;
  return (plugin, why, events) => {
    count(plugin, events.length);
    const now = Math.floor(clock.now() / 1000);
    if (now !== second) {
      if (unlogged > 0) log.error(undefined, 'More audit events were lost than are logged here', { events: unlogged });
      second = now;
      logged = 0;
      unlogged = 0;
    }
    const shown = events.slice(0, Math.max(0, MAX_REPORTED_PER_SECOND - logged));
    logged += shown.length;
    unlogged += events.length - shown.length;
    if (shown.length === 0) return;
    const text = typeof why === 'string' ? why : errorText(why);
    const what = `Error in audit plugin '${plugin}' affecting ${events.length} audit events: ${text}`;
    log.error(undefined, [what, 'Impacted events:', ...shown.map(legacyLine)].join('\n'));
  };
}
