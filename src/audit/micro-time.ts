let lastSecond = Number.NaN;
let lastText = '';

// hot: twice for each request that is recorded, mostly for one and the same second.
/** `2026-11-15T08:30:00.123456Z`: a moment in milliseconds, and what has passed since, down to microseconds. */
export function microTimeOf(ms: number, elapsedMs: number): string {
  const micros = Math.floor(ms) * 1000 + Math.max(0, Math.round(elapsedMs * 1000));
  const second = Math.floor(micros / 1e6);
  if (second !== lastSecond) {
    lastText = new Date(second * 1000).toISOString().slice(0, -'000Z'.length);
    lastSecond = second;
  }
  return `${lastText}${String(micros - second * 1e6).padStart(6, '0')}Z`;
}
