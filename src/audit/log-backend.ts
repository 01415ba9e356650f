// Events as lines, in a file or on standard output.
import { AUDIT_GROUP_VERSION } from '../machinery/names.js';
import type { AuditBackend, OnLost } from './backend.js';
import { type AuditEvent, eventPieces } from './event.js';
import { legacyLine } from './legacy-line.js';

/** Where lines are written. The answer tells of each line why it could not be written, in order; undefined for all well. */
export interface LineWriter {
  write(lines: readonly Buffer[]): Promise<readonly (Error | undefined)[] | undefined>;
  close(): Promise<void>;
}

export type LogFormat = 'json' | 'legacy';

export function createLogBackend(writer: LineWriter, format: LogFormat, onLost: OnLost): AuditBackend {
  const lineOf = format === 'json' ? jsonLine : (event: AuditEvent) => Buffer.from(`${legacyLine(event)}\n`);
  return {
    async process(events) {
      const failures = await writer.write(events.map(lineOf));
      if (failures === undefined) return true;
      for (const [index, event] of events.entries()) {
        const failure = failures[index];
        if (failure !== undefined) onLost('log', failure, [event]);
      }
      return false;
    },
    close: () => writer.close(),
  };
}

export const EVENT_HEAD = `{"kind":"Event","apiVersion":"${AUDIT_GROUP_VERSION}",`;
export const EVENT_TAIL = '}\n';

// hot: twice for each request that is recorded.
function jsonLine(event: AuditEvent): Buffer {
  const pieces = eventPieces(event);
  if (pieces.length === 1) return Buffer.from(`${EVENT_HEAD}${String(pieces[0])}${EVENT_TAIL}`);
  const all = [EVENT_HEAD, ...pieces, EVENT_TAIL];
  return Buffer.concat(all.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece)));
}
