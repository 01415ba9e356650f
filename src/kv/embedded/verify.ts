// Reads everything that a data folder has, and says what of it is not what was written. Nothing is changed.
import { append } from '../../lib/values/append.js';
import { type DamagedRecord, type KeyValue, KvError } from '../kv.js';
import { engineTables, openEngine, type Tables } from './engine.js';
import { openFailure, openFolder, refuseMissingStore } from './folder.js';
import { foundKeyValue } from './change.js';
import { byteKeyIn, textOf } from './byte-key.js';
import { checkedLog, decodeVersion, encodeNumbers, isLastOfRevision, placeIn } from './records.js';
import { diskFreeBytes } from './reserve.js';
import {
  changeTotals,
  FIRST_REVISION,
  NO_TOTALS,
  readCheckedSince,
  readCompacted,
  readRevision,
  totalFaults,
  type Totals,
} from './state.js';

export interface StoreReport {
  readonly revision: number;
  readonly compacted: number;
  /** Keys that were found, and changes in history. */
  readonly keys: number;
  readonly changes: number;
  /** Values that are not what was written. */
  readonly damaged: readonly DamagedRecord[];
  /** Everything else that is wrong, in sentences. */
  readonly faults: readonly string[];
  /** An earlier build wrote it, without checksums: only its pages were looked at. */
  readonly isUnchecked: boolean;
}

/** Fails, as an open does, where the file cannot be walked, or a server has it open. Calls `visit` with each sound value. */
export async function verifyStore(folder: string, visit?: (kv: KeyValue) => void): Promise<StoreReport> {
  refuseMissingStore(folder);
  const { open } = await import('lmdb');
  const opened = await openFolder(folder, diskFreeBytes, Infinity).catch((error: unknown) => {
    throw openFailure(folder, error);
  });
  if (!opened.isCompressed) {
    await opened.release();
    throw new KvError('unavailable', `an early build wrote the store in ${folder}: start a server with it once`);
  }
  const env = openEngine(open, opened.storePath, { readOnly: true });
  try {
    const tables = engineTables(env, opened);
    return walk(tables, visit);
  } catch (error) {
    throw openFailure(folder, error);
  } finally {
    await env.close();
    await opened.release();
  }
}

function walk(engine: Tables, visit: (kv: KeyValue) => void = () => undefined): StoreReport {
  const { revision, totals } = readRevision(engine.meta) ?? { revision: 0, totals: undefined };
  const isUnchecked = totals === undefined;
  const compacted = readCompacted(engine.meta);
  const unchecked = { current: isUnchecked, logUntil: readCheckedSince(engine.meta) ?? revision };
  const tables: Tables = { ...engine, unchecked };
  const current = walkCurrent(tables, visit);
  const log = walkLog(tables, compacted, revision);
  const faults = [...log.faults, ...expiryFaults(tables, current.expiries)];
  const { damaged } = current;
  // A damaged record need not have the checksum that it was counted with.
  if (totals !== undefined && damaged.length === 0) append(faults, totalFaults(current.totals, totals));
  return { revision, compacted, keys: current.totals.count, changes: log.changes, damaged, faults, isUnchecked };
}

interface CurrentFound {
  readonly totals: Totals;
  readonly damaged: readonly DamagedRecord[];
  /** By the key that their record in `expiries` must have. */
  readonly expiries: ReadonlyMap<string, string>;
}

function walkCurrent({ current, unchecked }: Tables, visit: (kv: KeyValue) => void): CurrentFound {
  let totals = NO_TOTALS;
  const damaged: DamagedRecord[] = [];
  const expiries = new Map<string, string>();
  for (const { key: name, value } of current.getRange({})) {
    const version = decodeVersion(name, value, unchecked.current);
    const key = byteKeyIn(name);
    totals = changeTotals(totals, name, undefined, version);
    if (version.isDamaged) damaged.push({ key: textOf(key), revision: version.modRevision });
    else visit(foundKeyValue(key, version));
    if (version.expiresAtMs > 0) expiries.set(expiryName(version.expiresAtMs, version.modRevision), key);
  }
  return { totals, damaged, expiries };
}

const expiryName = (expiresAtMs: number, revision: number): string =>
  encodeNumbers(expiresAtMs, revision).toString('hex');

function walkLog(
  { log, unchecked }: Tables,
  compacted: number,
  revision: number,
): { readonly changes: number; readonly faults: readonly string[] } {
  const faults: string[] = [];
  let changes = 0;
  let next = Math.max(compacted, FIRST_REVISION) + 1;
  /** The place of the next change of a revision that has several. */
  let nextPlace = 0;
  for (const { key, value } of log.getRange({ start: encodeNumbers(next) })) {
    const { revision: at, place } = placeIn(key);
    if (nextPlace > 0 ? at !== next - 1 || place !== nextPlace : place > 0)
      faults.push(`history lacks a part of ${at}`);
    if (at > next) faults.push(`history lacks the changes ${next} to ${at - 1}`);
    next = at + 1;
    changes++;
    const content = checkedLog(at, place, value, at <= unchecked.logUntil);
    if (content === undefined) faults.push(`history: change ${at} is damaged`);
    nextPlace = content === undefined || isLastOfRevision(content) ? 0 : place + 1;
  }
  if (next <= revision) faults.push(`history lacks the changes ${next} to ${revision}`);
  return { changes, faults };
}

/** What has an end is to be found by it, and the other way round. */
function expiryFaults({ expiries }: Tables, wanted: ReadonlyMap<string, string>): string[] {
  const found = new Map<string, string>();
  for (const { key, value } of expiries.getRange({})) found.set(key.toString('hex'), byteKeyIn(value));
  const missing = [...wanted].filter(([name, key]) => found.get(name) !== key);
  return missing.map(([, key]) => `${key} has an end that nobody waits for`);
}
