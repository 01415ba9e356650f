// Events as lines, in a file or on standard output.
import { AUDIT_GROUP_VERSION } from '../machinery/names.js';
import type { AuditBackend, OnLost } from './backend.js';
import { type AuditEvent, eventPieces, type JsonBytes } from './event.js';
import { legacyLine } from './legacy-line.js';
import { type LineBlock, LineBlockBuilder } from './line-block.js';

/** Where lines are written. The answer tells of each line why it could not be written, in order; undefined for all well. */
export interface LineWriter {
  write(block: LineBlock): Promise<readonly (Error | undefined)[] | undefined>;
  close(): Promise<void>;
}

export type LogFormat = 'json' | 'legacy';

export function createLogBackend(writer: LineWriter, format: LogFormat, onLost: OnLost): AuditBackend {
  const addLine = format === 'json' ? addJson : addLegacy;
  return {
    async process(events) {
      const lines = new LineBlockBuilder(events.length);
      for (const event of events) {
        addLine(lines, event);
        lines.endLine();
      }
      const failures = await writer.write(lines.block());
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
function addJson(lines: LineBlockBuilder, event: AuditEvent): void {
  const pieces = eventPieces(event);
  if (pieces.length === 1) {
    lines.add(`${EVENT_HEAD}${String(pieces[0])}${EVENT_TAIL}`);
    return;
  }
  // The first and the last are text.
  const last = pieces.length - 1;
  lines.add(`${EVENT_HEAD}${pieces[0] as string}`);
  for (let i = 1; i < last; i++) lines.add(pieces[i] as JsonBytes);
  lines.add(`${pieces[last] as string}${EVENT_TAIL}`);
}

const addLegacy = (lines: LineBlockBuilder, event: AuditEvent): void => lines.add(`${legacyLine(event)}\n`);
