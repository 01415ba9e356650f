// Opening the tables of the engine's file: what is missing in a new one is written, an older one is brought up to date, and
// what the counters say is compared with what is there.
import type { RootDatabase } from 'lmdb';
import { changeBytes } from './allocation.js';
import { damaged, type DataFolder, diskFull } from './folder.js';
import { engineTables, type Tables } from './engine.js';
import { decodeVersion, encodeNumbers, encodeVersion, numberAt } from './records.js';
import type { Room } from './room.js';
import {
  changeTotals,
  checkedSinceRecord,
  compactedRecord,
  FIRST_REVISION,
  NO_TOTALS,
  readCheckedSince,
  readCompacted,
  readRevision,
  revisionRecord,
  type Totals,
} from './state.js';

/** Which build writes, and the revision it began after. */
const WRITER = Buffer.from('writer');
const WRITER_SINCE = Buffer.from('writer since');
/** Its tables and the dictionary. */
const NEW_STORE_BYTES = 256 * 1024;
/** Records that one commit brings up to date. */
const UPGRADE_BATCH = 1_000;

export interface OpenedTables {
  readonly tables: Tables;
  readonly revision: number;
  readonly compacted: number;
  readonly totals: Totals;
  /** What was written up to this revision is another build's. */
  readonly olderRevision: number;
}

export async function openTables(
  env: RootDatabase,
  folder: DataFolder,
  room: Room,
  writer: string | undefined,
): Promise<OpenedTables> {
  // A new store, or an early build's: tables and dictionary are written.
  if (!folder.isCompressed) await allocate(room, folder, NEW_STORE_BYTES);
  const tables = engineTables(env, folder);
  const { meta } = tables;
  const known = readRevision(meta);
  const revision = known?.revision ?? FIRST_REVISION;
  if (known === undefined) await writeState(env, meta, revision, NO_TOTALS);
  // Before the first value is written in this format.
  folder.markFormat();
  const totals =
    known === undefined ? NO_TOTALS : (known.totals ?? (await bringUp({ env, folder, room, tables, revision })));
  const olderRevision = await noteWriter(env, meta, room, { writer, revision });
  const unchecked = { current: false, logUntil: readCheckedSince(meta) ?? revision };
  env.resetReadTxn();
  const missing = whatIsMissing(tables, folder, revision, totals);
  if (missing !== undefined) throw damaged(folder.path, missing);
  return { tables: { ...tables, unchecked }, revision, compacted: readCompacted(meta), totals, olderRevision };
}

async function allocate(room: Room, folder: DataFolder, bytes: number): Promise<void> {
  if (!(await room.allocate({ bytes, adds: false }))) throw diskFull(folder.path);
}

async function writeState(env: RootDatabase, meta: Tables['meta'], revision: number, totals: Totals): Promise<void> {
  const compacted = readCompacted(meta);
  await env.transaction(() => {
    meta.putSync(...revisionRecord(revision, totals));
    meta.putSync(...checkedSinceRecord(revision));
    if (compacted > 0) meta.putSync(...compactedRecord(compacted));
  });
}

/** A store whose records have no checksums. */
interface OlderStore {
  readonly env: RootDatabase;
  readonly folder: DataFolder;
  readonly room: Room;
  readonly tables: Tables;
  /** Its newest. */
  readonly revision: number;
}

/**
 * An earlier build's records get checksums, some at a time. One that is interrupted begins anew: what has a checksum by then
 * is left as it is, damaged or not.
 */
async function bringUp({ env, folder, room, tables, revision }: OlderStore): Promise<Totals> {
  const { current, unchecked } = tables;
  let totals = NO_TOTALS;
  let start = Buffer.alloc(0);
  for (let isLast = false; !isLast;) {
    env.resetReadTxn();
    const writes: [Buffer, Buffer][] = [];
    let found = 0;
    for (const { key, value } of current.getRange({ start, limit: UPGRADE_BATCH })) {
      found++;
      start = Buffer.concat([key, Buffer.alloc(1)]);
      const version = decodeVersion(key, value, unchecked.current);
      if (version.isUnchecked) writes.push([key, encodeVersion(key, version).bytes]);
      totals = changeTotals(totals, key, undefined, version);
    }
    isLast = found < UPGRADE_BATCH;
    if (writes.length === 0) continue;
    await allocate(
      room,
      folder,
      writes.reduce((sum, [, bytes]) => sum + changeBytes(bytes.length), 0),
    );
    await env.batch(() => writes.forEach(([key, bytes]) => void current.put(key, bytes)));
  }
  await allocate(room, folder, changeBytes(0));
  await writeState(env, tables.meta, revision, totals);
  return totals;
}

/**
 * What lies there when another build comes is of an earlier one, whichever; what lay there before that one, too. On a full disk it
 * is noted at a later start.
 */
async function noteWriter(
  env: RootDatabase,
  meta: Tables['meta'],
  room: Room,
  { writer, revision }: { readonly writer: string | undefined; readonly revision: number },
): Promise<number> {
  const since = meta.get(WRITER_SINCE);
  const isSame = writer === undefined || meta.get(WRITER)?.equals(Buffer.from(writer)) === true;
  if (since !== undefined && isSame) return numberAt(since, 0);
  if (writer === undefined) return revision;
  if (!(await room.allocate({ bytes: changeBytes(0), adds: false }))) return revision;
  await env.transaction(() => {
    meta.putSync(WRITER, Buffer.from(writer));
    meta.putSync(WRITER_SINCE, encodeNumbers(revision));
  });
  return revision;
}

/** Values are not read here; they are checked when somebody wants them. */
function whatIsMissing(
  { current, log }: Tables,
  { keys }: DataFolder,
  revision: number,
  totals: Totals,
): string | undefined {
  const count = keys?.count ?? current.getKeysCount({});
  if (count !== totals.count) return `it has ${count} keys, and ${totals.count} were written`;
  if (keys !== undefined && keys.keySum !== totals.keySum) return 'it has other keys than were written';
  const [last] = log.getKeys({ reverse: true, limit: 1 });
  const newest = last === undefined ? 0 : numberAt(last, 0);
  return newest > revision ? `it has a change of revision ${newest}, and is at revision ${revision}` : undefined;
}
