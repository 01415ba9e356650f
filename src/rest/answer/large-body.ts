// An answer that is there, and so large that it goes out piece by piece, as its client reads: encrypted at once it would
// keep everybody waiting.
import type { ResponseBody } from '../../lib/http/http.js';

/** What is smaller goes out at once. */
export const MAX_AT_ONCE_BYTES = 4 * 1024 * 1024;
const PIECE_BYTES = 256 * 1024;

export function largeBody(parts: readonly Buffer[], bytes: number): ResponseBody {
  if (bytes <= MAX_AT_ONCE_BYTES) return parts;
  return {
    async stream(sink) {
      for (const part of parts) {
        for (let at = 0; at < part.length; at += PIECE_BYTES) {
          if (sink.signal.aborted) return;
          if (!sink.write(part.subarray(at, at + PIECE_BYTES))) await sink.drained();
        }
      }
    },
  };
}
