// What is found when the disk returns something else than what was written.
import { errorText } from '../../lib/text/error-text.js';
import { KvError, type DamagedRecord } from '../kv.js';

/** The most records that one failure names. */
export const MAX_NAMED = 101;

/** The file can be read, but for these. */
export function damagedRecords(records: readonly DamagedRecord[]): KvError {
  const [first] = records;
  const more = records.length > 1 ? `, and of ${records.length - 1} more` : '';
  const text = `the checksum of the value stored for ${first?.key} at revision ${first?.revision} does not match${more}`;
  return new KvError('damaged', text, { records });
}

/** The log's record of a change is missing or corrupt, so history up to that change cannot be read. */
export class DamagedHistory extends Error {
  constructor(readonly revision: number) {
    super(`the record of revision ${revision} is missing or damaged`);
  }
}

/** What the engine says, without its name for it. */
export const engineText = (error: unknown): string => errorText(error).replace(/^MDB_[A-Z_]+: /, '');
