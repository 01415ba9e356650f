// A copy of the store for whoever wants it by the API: its file at one revision, and after it the SHA-256 of the file, as
// etcdctl expects. A data folder with this file as store.mdb is a store again.
import { createHash, randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import type { EmbeddedStore } from '../kv/embedded/embedded.js';
import { STORE_FILE } from '../kv/embedded/folder.js';

const PIECE_BYTES = 32 * 1024;

export interface SnapshotPiece {
  readonly blob: Buffer;
  readonly remainingBytes: number;
}

export async function* snapshotOf(
  store: EmbeddedStore,
  scratchFolder: string,
  signal: AbortSignal,
): AsyncIterable<SnapshotPiece> {
  const folder = path.join(scratchFolder, `snapshot-${randomUUID()}`);
  try {
    await store.backup?.(folder);
    const file = path.join(folder, STORE_FILE);
    let remainingBytes = fs.statSync(file).size;
    const hash = createHash('sha256');
    for await (const piece of fs.createReadStream(file, { highWaterMark: PIECE_BYTES, signal })) {
      const blob = piece as Buffer;
      hash.update(blob);
      remainingBytes -= blob.length;
      yield { blob, remainingBytes };
    }
    yield { blob: hash.digest(), remainingBytes: 0 };
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}
