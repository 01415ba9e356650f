/** A rate with a burst: `take` returns how long to wait until the token is due. */
export class TokenBucket {
  private tokens: number;
  private atMs: number;

  constructor(
    private readonly perSecond: number,
    private readonly burst: number,
    nowMs: number,
  ) {
    this.tokens = burst;
    this.atMs = nowMs;
  }

  /** In milliseconds; 0 when it may go at once. */
  take(nowMs: number): number {
    const elapsedSeconds = Math.max(0, nowMs - this.atMs) / 1000;
    this.tokens = Math.min(this.burst, this.tokens + elapsedSeconds * this.perSecond) - 1;
    this.atMs = nowMs;
    return this.tokens >= 0 ? 0 : (-this.tokens / this.perSecond) * 1000;
  }
}
