// Frames that do nothing for the client and still cost the server something: resets, pings, settings, empty bodies, tiny
// steps of a window. Anybody may send some, nobody floods the server with them.
import { ConnectionError, ErrorCode } from './error-code.js';

/** At once. A client that opens and resets watches by the thousand is still served. */
const BURST = 10_000;
/** So many more each second. */
const PER_SECOND = 1000;
/** One more for each KiB. */
const STEP_SHIFT = 10;

export class FloodGuard {
  #left = BURST;
  #sinceMs: number;

  constructor(private readonly nowMs: () => number) {
    this.#sinceMs = nowMs();
  }

  /** For each such frame. */
  spend(): void {
    if (--this.#left >= 0) return;
    const nowMs = this.nowMs();
    const more = Math.floor(((nowMs - this.#sinceMs) * PER_SECOND) / 1000);
    if (more <= 0) throw new ConnectionError(ErrorCode.enhanceYourCalm, 'too many frames that carry no request');
    this.#sinceMs = nowMs;
    this.#left = Math.min(BURST, more) - 1;
  }

  /**
   * Clients answer DATA with WINDOW_UPDATE: two for each frame, and Go's clients send one for every 4 KiB that they read,
   * of the stream and of the connection.
   */
  // hot: once for each DATA frame.
  earn(sentBytes: number): void {
    if (this.#left < BURST) this.#left += 2 + (sentBytes >>> STEP_SHIFT);
  }
}
