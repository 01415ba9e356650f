// The rotated files of a log: which are deleted because they are too many or too old, and which are compressed.
import { createReadStream, createWriteStream } from 'node:fs';
import fs from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import zlib from 'node:zlib';

export interface OldFilesOptions {
  readonly file: string;
  /** 0 for all. */
  readonly maxBackups: number;
  /** 0 for ever. */
  readonly maxAgeDays: number;
  readonly compress: boolean;
  readonly now: () => number;
  readonly onError: (error: unknown) => void;
}

const DAY_MS = 24 * 60 * 60 * 1000;
const COMPRESSED = '.gz';
/** A compressed file gets its name once it is whole. */
const PARTIAL = '.partial';

/** Tidies up once for all calls that come while it is at work, and once more afterwards. */
export function tidyOldFiles(options: OldFilesOptions): () => void {
  if (options.maxBackups === 0 && options.maxAgeDays === 0 && !options.compress) return () => undefined;
  let again = false;
  let working = false;
  const work = async (): Promise<void> => {
    working = true;
    do {
      again = false;
      try {
        await tidyOnce(options);
      } catch (error) {
        options.onError(error);
      }
    } while (again);
    working = false;
  };
  return () => {
    again = true;
    if (!working) void work();
  };
}

async function tidyOnce(options: OldFilesOptions): Promise<void> {
  const { maxBackups, maxAgeDays, compress } = options;
  const folder = path.dirname(options.file);
  const found = await oldFiles(options.file);
  const oldestMs = maxAgeDays === 0 ? Number.NEGATIVE_INFINITY : options.now() - maxAgeDays * DAY_MS;
  // A file and its compressed form are one, while both are there.
  const times = [...new Set(found.map(({ atMs }) => atMs))];
  const kept = new Set(times.slice(0, maxBackups === 0 ? times.length : maxBackups).filter((atMs) => atMs >= oldestMs));
  for (const { name, atMs } of found) {
    if (!kept.has(atMs)) await fs.rm(path.join(folder, name), { force: true });
    else if (compress && !name.endsWith(COMPRESSED)) await compressFile(path.join(folder, name));
  }
}

interface OldFile {
  readonly name: string;
  readonly atMs: number;
}

/** The newest first. */
async function oldFiles(file: string): Promise<OldFile[]> {
  const names = await fs.readdir(path.dirname(file));
  return names
    .flatMap((name): OldFile[] => {
      const atMs = timeInName(file, name);
      return atMs === undefined ? [] : [{ name, atMs }];
    })
    .sort((a, b) => b.atMs - a.atMs);
}

const TIME = /^(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d\.\d{3})$/;

/** When a file was rotated; undefined for any other file. */
export function timeInName(file: string, name: string): number | undefined {
  const { stem, extension } = nameParts(file);
  const plain = name.endsWith(extension + COMPRESSED) ? name.slice(0, -COMPRESSED.length) : name;
  if (!plain.startsWith(`${stem}-`) || !plain.endsWith(extension)) return undefined;
  const time = TIME.exec(plain.slice(stem.length + 1, plain.length - extension.length));
  const atMs = time === null ? Number.NaN : Date.parse(`${time[1]}T${time[2]}:${time[3]}:${time[4]}Z`);
  return Number.isNaN(atMs) ? undefined : atMs;
}

/** The name of `audit.log` rotated at a moment, in UTC. */
export function rotatedName(file: string, atMs: number): string {
  const { stem, extension } = nameParts(file);
  const time = new Date(atMs).toISOString().slice(0, -1).replaceAll(':', '-');
  return path.join(path.dirname(file), `${stem}-${time}${extension}`);
}

/** A name that begins with its only dot is nothing but an extension. */
function nameParts(file: string): { readonly stem: string; readonly extension: string } {
  const name = path.basename(file);
  const dot = name.lastIndexOf('.');
  return dot < 0 ? { stem: name, extension: '' } : { stem: name.slice(0, dot), extension: name.slice(dot) };
}

/** Until the compressed file is whole, the plain one stays; afterwards it goes. */
async function compressFile(file: string): Promise<void> {
  const { mode } = await fs.stat(file);
  const partial = `${file}${COMPRESSED}${PARTIAL}`;
  await pipeline(createReadStream(file), zlib.createGzip(), createWriteStream(partial, { mode: mode & 0o777 }));
  await fs.rename(partial, `${file}${COMPRESSED}`);
  await fs.rm(file);
}
