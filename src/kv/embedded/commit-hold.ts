// Between a commit and its being known, where other processes share the store (kv/shared).
import type { Change } from './change.js';

export interface CommitHold {
  /** Changes are on disk. `release` hands them to watches and answers their writers; commits are released in their order. */
  committed(revision: number, changes: readonly Change[], release: () => void): void;
  /** Fulfilled when everything up to this revision is released; undefined where it is. */
  released(revision: number): Promise<void> | undefined;
}
