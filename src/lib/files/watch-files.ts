import fs from 'node:fs';
import path from 'node:path';
import type { ReloadRequests } from './reload-requests.js';

export interface WatchFilesOptions {
  /** Polled this often besides: not every file system reports changes. */
  readonly pollMs: number;
  /** Something may have changed. */
  readonly changed: () => void;
  /** Also when somebody requests it. */
  readonly reloads?: ReloadRequests | undefined;
}

/** A change often comes in several steps: what follows the first within this time is part of it. */
const SETTLE_MS = 100;

/**
 * Folders are watched, not files: a renewal usually replaces the file or the link to it. What else lies in them, logs for
 * example, may change as it likes. The answer ends it.
 */
export function watchFiles(files: readonly string[], { pollMs, changed, reloads }: WatchFilesOptions): () => void {
  let settling: NodeJS.Timeout | undefined;
  const soon = (): void => {
    settling ??= setTimeout(() => {
      settling = undefined;
      changed();
    }, SETTLE_MS).unref();
  };
  const watchers = [...namesByFolder(files)].flatMap(([folder, names]) => {
    const seen = (_event: string, name: string | null): void => {
      if (name === null || names.has(name)) soon();
    };
    try {
      return [fs.watch(folder, { persistent: false }, seen).on('error', () => undefined)];
    } catch {
      return [];
    }
  });
  const poll = setInterval(changed, pollMs).unref();
  const unfollow = reloads?.follow(changed);
  return () => {
    clearInterval(poll);
    unfollow?.();
    clearTimeout(settling);
    for (const watcher of watchers) watcher.close();
  };
}

/** A mounted volume has `file -> ..data/file` and `..data -> ..<time>`: its renewal shows at `..data` alone. */
const MAX_LINKS = 8;

function namesByFolder(files: readonly string[]): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const file of files) {
    const folder = path.dirname(file);
    const names = found.get(folder) ?? new Set<string>();
    found.set(folder, names);
    let name: string | undefined = path.basename(file);
    for (let links = 0; name !== undefined && links < MAX_LINKS; links++) {
      names.add(name);
      name = linkedWithin(folder, name);
    }
  }
  return found;
}

/** The name in the same folder through which a link leads. */
function linkedWithin(folder: string, name: string): string | undefined {
  try {
    const target = path.relative(folder, path.resolve(folder, fs.readlinkSync(path.join(folder, name))));
    const first = target.split(path.sep)[0];
    return first === '..' || first === '' ? undefined : first;
  } catch {
    return undefined;
  }
}
