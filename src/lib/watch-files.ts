import fs from 'node:fs';
import path from 'node:path';

export interface WatchFilesOptions {
  /** Looked at this often besides: not every file system tells of changes. */
  readonly pollMs: number;
  /** Something may have changed. */
  readonly changed: () => void;
}

/** A change often comes in several steps: they are one when they follow each other this closely. */
const SETTLE_MS = 100;

/** Folders are watched, not files: a renewal usually replaces the file or the link to it. The answer ends it. */
export function watchFiles(files: readonly string[], { pollMs, changed }: WatchFilesOptions): () => void {
  let settling: NodeJS.Timeout | undefined;
  const soon = (): void => {
    clearTimeout(settling);
    settling = setTimeout(changed, SETTLE_MS).unref();
  };
  const watchers = [...new Set(files.map((file) => path.dirname(file)))].flatMap((folder) => {
    try {
      return [fs.watch(folder, { persistent: false }, soon).on('error', () => undefined)];
    } catch {
      return [];
    }
  });
  const poll = setInterval(changed, pollMs).unref();
  return () => {
    clearInterval(poll);
    clearTimeout(settling);
    for (const watcher of watchers) watcher.close();
  };
}
