import type { Retention } from '../../etcd/auto-compaction.js';
import { HOUR_MS } from '../../options/flag-table.js';
import { parseDurationMs } from '../../machinery/time.js';
import { CommandFailure } from '../command.js';

/** Undefined where history is kept until a client compacts. */
export function retentionOf(mode: string, text: string): Retention | undefined {
  if (mode !== 'periodic' && mode !== 'revision') {
    throw new CommandFailure(`--auto-compaction-mode is periodic or revision, not ${mode}`);
  }
  const isNumber = /^\d{1,15}$/.test(text);
  if (isNumber && Number(text) === 0) return undefined;
  if (mode === 'revision') {
    if (!isNumber) throw new CommandFailure(`--auto-compaction-retention is a number of revisions, not ${text}`);
    return { keepRevisions: Number(text) };
  }
  if (isNumber) return { keepMs: Number(text) * HOUR_MS };
  try {
    const keepMs = parseDurationMs(text);
    return keepMs > 0 ? { keepMs } : undefined;
  } catch {
    throw new CommandFailure(`--auto-compaction-retention is a number of hours or a duration, not ${text}`);
  }
}
