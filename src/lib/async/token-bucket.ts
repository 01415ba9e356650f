export interface TokenBucketOptions {
  /** So many may come at once. */
  readonly burst: number;
  /** And then one every so often. */
  readonly everyMs: number;
  readonly nowMs: () => number;
}

/** True for as many calls as are allowed: what others make us do must not become what we do to third parties. */
export function createTokenBucket({ burst, everyMs, nowMs }: TokenBucketOptions): () => boolean {
  let left = burst;
  let countedAtMs = nowMs();
  return () => {
    const now = nowMs();
    left = Math.min(burst, left + Math.max(0, now - countedAtMs) / everyMs);
    countedAtMs = now;
    if (left < 1) return false;
    left--;
    return true;
  };
}
