// What `binnacle migrate` does: reads a snapshot of one store and fills another with it.
import fs from 'node:fs';
import path from 'node:path';
import { openBackup } from '../kv/backup-file.js';
import { folderHolder } from '../kv/embedded/folder-lock.js';
import { openFolderSnapshot } from '../kv/embedded/folder-snapshot.js';
import { refuseStoreIn, writeNewStore } from '../kv/embedded/new-store.js';
import type { ConnectOptions } from '../kv/etcd/connect.js';
import { openEtcdStore } from '../kv/etcd/etcd.js';
import { openEtcdSnapshot } from '../kv/etcd/etcd-snapshot.js';
import { fillStore, markerKey, refuseFilled } from '../kv/fill-store.js';
import { type KeyValueStore, KvError } from '../kv/kv.js';
import type { Snapshot, SnapshotEntry } from '../kv/snapshot.js';
import { errorText } from '../lib/text/error-text.js';
import { directDialer } from '../outbound/dialer.js';
import { embeddedForm, etcdForm } from '../server/storage/stored-value.js';
import { CommandFailure, type CommandParts, EXIT } from './command.js';
import { ResourceCounts } from './resource-counts.js';
import { type ProgressBar, progressBar } from './terminal.js';

const REACH_MS = 20_000;
const MAX_NAMED = 100;
/** What etcd takes by default, `--max-request-bytes`. */
const MAX_ETCD_VALUE_BYTES = 1.5 * 1024 * 1024;
/** What the embedded store takes. */
const MAX_EMBEDDED_VALUE_BYTES = 8 * 1024 * 1024;

export type Place =
  | { readonly kind: 'etcd'; readonly servers: readonly string[] }
  | { readonly kind: 'folder'; readonly path: string };

export const placeOf = (text: string): Place =>
  /^https?:\/\//.test(text) ? { kind: 'etcd', servers: text.split(',') } : { kind: 'folder', path: path.resolve(text) };

export interface Migration {
  readonly from: Place;
  readonly to: Place;
  readonly dryRun: boolean;
  readonly etcdCafile: string;
  readonly etcdCertfile: string;
  readonly etcdKeyfile: string;
  readonly etcdPrefix: string;
}

export async function migrateStore(migration: Migration, parts: CommandParts): Promise<number> {
  const target = await openTarget(migration);
  try {
    const source = await openSource(migration);
    try {
      const code = await (migration.dryRun ? dryRun : move)(migration, target, source.snapshot, parts);
      if (await source.isInUse()) parts.printError(`warning: ${IN_USE} ${source.snapshot.revision} was not migrated\n`);
      return code;
    } finally {
      await source.close();
    }
  } finally {
    await target.close();
  }
}

const IN_USE = 'a server uses the source: what it has written since revision';

interface Source {
  readonly snapshot: Snapshot;
  /** Somebody may have written to it since the snapshot. */
  isInUse(): Promise<boolean>;
  close(): Promise<void>;
}

interface Target {
  /** The object of a value, as this target keeps it. */
  readonly form: (value: Buffer) => Buffer;
  readonly maxValueBytes: number;
  /** Answers how many keys it has now. */
  fill(snapshot: Snapshot, pages: AsyncIterable<readonly SnapshotEntry[]>): Promise<number>;
  close(): Promise<void>;
}

/** Fails where there is something already. */
async function openTarget(migration: Migration): Promise<Target> {
  const { to, etcdPrefix: prefix } = migration;
  const nowMs = (): number => Date.now();
  if (to.kind === 'folder') {
    refuseStoreIn(to.path);
    return {
      form: embeddedForm,
      maxValueBytes: MAX_EMBEDDED_VALUE_BYTES,
      fill: ({ revision }, pages) => writeNewStore({ folder: to.path, revision, nowMs: nowMs() }, pages),
      close: async () => undefined,
    };
  }
  const kv = openEtcdStore({ servers: to.servers, ...credentials(migration), prefix });
  try {
    await reach(kv, to.servers);
    await refuseFilled(kv, prefix);
  } catch (error) {
    await kv.close();
    throw error;
  }
  return {
    form: etcdForm,
    maxValueBytes: MAX_ETCD_VALUE_BYTES,
    fill: (_snapshot, pages) => fillStore({ kv, prefix, nowMs }, pages),
    close: () => kv.close(),
  };
}

async function openSource(migration: Migration): Promise<Source> {
  const { from, etcdPrefix } = migration;
  return from.kind === 'etcd' ? etcdSource(migration, from.servers) : folderSource(from.path, `${etcdPrefix}/`);
}

async function etcdSource(migration: Migration, servers: readonly string[]): Promise<Source> {
  const { etcdPrefix } = migration;
  const kv = openEtcdStore({ servers, ...credentials(migration) });
  try {
    await reach(kv, servers);
    if ((await kv.get(markerKey(etcdPrefix))) !== undefined) {
      throw new CommandFailure('a migration into the source was not finished');
    }
    const nowMs = (): number => Date.now();
    const snapshot = await openEtcdSnapshot({ servers, ...credentials(migration), prefix: `${etcdPrefix}/`, nowMs });
    return {
      snapshot,
      isInUse: async () => (await kv.revision()) > snapshot.revision,
      async close() {
        await snapshot.close();
        await kv.close();
      },
    };
  } catch (error) {
    await kv.close();
    throw error;
  }
}

async function folderSource(at: string, prefix: string): Promise<Source> {
  const isFile = fs.statSync(at, { throwIfNoEntry: false })?.isFile() === true;
  // The snapshot of a stopped server's folder holds its lock, too.
  const holder = isFile ? undefined : await folderHolder(at);
  const all = await (isFile ? openBackup(fs.createReadStream(at), at) : openFolderSnapshot(at));
  const { revision, keys } = all;
  return {
    snapshot: { revision, keys, pages: () => under(prefix, all.pages()), close: () => all.close() },
    isInUse: async () => holder !== undefined,
    close: () => all.close(),
  };
}

/** Beside objects there is the note by which compactions are agreed: that stays. */
async function* under(
  prefix: string,
  pages: AsyncIterable<readonly SnapshotEntry[]>,
): AsyncGenerator<readonly SnapshotEntry[]> {
  for await (const page of pages) yield page.filter(({ key }) => key.startsWith(prefix));
}

async function reach(kv: KeyValueStore, servers: readonly string[]): Promise<void> {
  if ((await kv.reached?.(REACH_MS)) === false) throw new CommandFailure(`no etcd answers at ${servers.join(',')}`);
}

const credentials = ({ etcdCafile, etcdCertfile, etcdKeyfile }: Migration): ConnectOptions => ({
  dialer: directDialer,
  ...(etcdCafile !== '' && { caFile: etcdCafile }),
  ...(etcdCertfile !== '' && { certFile: etcdCertfile }),
  ...(etcdKeyfile !== '' && { keyFile: etcdKeyfile }),
});

async function move(_migration: Migration, target: Target, snapshot: Snapshot, parts: CommandParts): Promise<number> {
  const counts = new ResourceCounts();
  const bar = progressBar('Migrating', snapshot.keys, parts);
  try {
    const keys = await target.fill(snapshot, converted(snapshot, target, counts, bar));
    bar.clear();
    parts.print(counts.text());
    parts.print(`${keys} keys of revision ${snapshot.revision} were migrated\n`);
    return EXIT.done;
  } finally {
    bar.clear();
  }
}

async function* converted(
  snapshot: Snapshot,
  { form }: Target,
  counts: ResourceCounts,
  bar: ProgressBar,
): AsyncGenerator<readonly SnapshotEntry[]> {
  let done = 0;
  for await (const page of snapshot.pages()) {
    yield page.map((entry) => {
      counts.add(entry.key);
      try {
        return { ...entry, value: form(entry.value) };
      } catch (error) {
        const text = `${entry.key} cannot be decoded: ${errorText(error)}; --dry-run names all such objects`;
        throw new KvError('damaged', text, { cause: error });
      }
    });
    done += page.length;
    bar.at(done);
  }
}

/** Reads and converts everything, and writes nothing. */
async function dryRun(
  { to }: Migration,
  { form, maxValueBytes }: Target,
  snapshot: Snapshot,
  parts: CommandParts,
): Promise<number> {
  const counts = new ResourceCounts();
  const refused: string[] = [];
  let keys = 0;
  for await (const page of snapshot.pages()) {
    for (const { key, value } of page) {
      keys++;
      counts.add(key);
      try {
        const { length } = form(value);
        if (length > maxValueBytes) refused.push(`${key}: ${length} bytes are more than the target takes`);
      } catch (error) {
        refused.push(`${key}: it cannot be decoded: ${errorText(error)}`);
      }
    }
  }
  parts.print(counts.text());
  parts.print(`${keys} keys of revision ${snapshot.revision} would be migrated\n`);
  if (to.kind === 'etcd') parts.print('every object would get a new resource version (--new-revisions)\n');
  for (const one of refused.slice(0, MAX_NAMED)) parts.printError(`refused: ${one}\n`);
  if (refused.length > MAX_NAMED) parts.printError(`refused: ${refused.length - MAX_NAMED} more\n`);
  return refused.length === 0 ? EXIT.done : EXIT.failed;
}
