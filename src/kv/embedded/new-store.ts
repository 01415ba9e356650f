// A new store in a data folder, from the entries of a snapshot, with their revisions. It is written in the folder `incoming`
// and moved to its place when it is whole: one that was interrupted is begun anew, and no server starts with it.
import fs from 'node:fs';
import path from 'node:path';
import type { RootDatabase } from 'lmdb';
import { KvError } from '../kv.js';
import type { SnapshotEntry } from '../snapshot.js';
import { engineTables, openEngine, type Tables } from './engine.js';
import { FORMAT_FILE, INCOMING_FOLDER, openFailure, STORE_FILE, writeFormat } from './folder.js';
import { type FolderLock, lockFolder } from './folder-lock.js';
import { MAX_KEY_BYTES } from './past.js';
import { makePrivateFile, makePrivateFolder } from './private-folder.js';
import { encodeNumbers, encodeVersion } from './records.js';
import { changeTotals, checkedSinceRecord, compactedRecord, NO_TOTALS, revisionRecord, type Totals } from './state.js';

export interface NewStoreOptions {
  /** The data folder: made where it is missing; has no store yet. */
  readonly folder: string;
  /** What the store is at; there is no history before. Not below the revision of any entry. */
  readonly revision: number;
  /** Keys that have expired by now are left out. */
  readonly nowMs: number;
}

/** Answers how many keys were written. Where it fails, the folder is as it was before. */
export async function writeNewStore(
  { folder, revision, nowMs }: NewStoreOptions,
  pages: AsyncIterable<readonly SnapshotEntry[]>,
): Promise<number> {
  const incoming = path.join(folder, INCOMING_FOLDER);
  let lock: FolderLock | undefined;
  try {
    makePrivateFolder(folder);
    lock = await lockFolder(folder);
    refuseStoreIn(folder);
    // One that was moved already, and not marked as whole.
    fs.rmSync(path.join(folder, STORE_FILE), { force: true });
    fs.rmSync(incoming, { recursive: true, force: true });
    fs.mkdirSync(incoming, { mode: 0o700 });
    const totals = await fill(incoming, revision, nowMs, pages);
    // Without FORMAT the folder counts as unfinished, and afterwards `incoming` means nothing.
    fs.renameSync(path.join(incoming, STORE_FILE), path.join(folder, STORE_FILE));
    writeFormat(folder);
    return totals.count;
  } catch (error) {
    throw openFailure(folder, error);
  } finally {
    if (lock !== undefined) fs.rmSync(incoming, { recursive: true, force: true });
    await lock?.release();
  }
}

/** Fails where the folder has a store, unless it is what an interrupted run left. */
export function refuseStoreIn(folder: string): void {
  const has = (name: string): boolean => fs.existsSync(path.join(folder, name));
  if (!has(FORMAT_FILE) && (has(INCOMING_FOLDER) || !has(STORE_FILE))) return;
  throw new KvError(
    'unavailable',
    `there is a store in ${folder} already: name another folder, or move ${STORE_FILE} and ${FORMAT_FILE} away first`,
  );
}

async function fill(
  folder: string,
  revision: number,
  nowMs: number,
  pages: AsyncIterable<readonly SnapshotEntry[]>,
): Promise<Totals> {
  const { open } = await import('lmdb');
  makePrivateFile(folder, STORE_FILE);
  const storePath = path.join(folder, STORE_FILE);
  const env = openEngine(open, storePath);
  try {
    const tables = engineTables(env, { path: folder, isCompressed: false });
    let totals = NO_TOTALS;
    for await (const page of pages) {
      const kept = page.filter(({ expiresAtMs }) => expiresAtMs === 0 || expiresAtMs > nowMs);
      totals = await putPage(env, tables, kept, totals);
    }
    await env.transaction(() => {
      tables.meta.putSync(...revisionRecord(revision, totals));
      tables.meta.putSync(...checkedSinceRecord(revision));
      tables.meta.putSync(...compactedRecord(revision));
    });
    return totals;
  } finally {
    await env.close();
  }
}

async function putPage(
  env: RootDatabase,
  { current, expiries }: Tables,
  page: readonly SnapshotEntry[],
  before: Totals,
): Promise<Totals> {
  let totals = before;
  const encoded = page.map((entry) => {
    const { name } = entry;
    if (name.length > MAX_KEY_BYTES) throw new KvError('too-large', `the key ${entry.key.slice(0, 200)}… is too long`);
    const { bytes, checksum } = encodeVersion(name, { ...entry, lease: 0n });
    totals = changeTotals(totals, name, undefined, { checksum });
    return { name, bytes, entry };
  });
  await env.batch(() => {
    for (const { name, bytes, entry } of encoded) {
      void current.put(name, bytes);
      if (entry.expiresAtMs > 0) void expiries.put(encodeNumbers(entry.expiresAtMs, entry.modRevision), name);
    }
  });
  return totals;
}
