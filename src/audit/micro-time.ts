let lastSecond = Number.NaN;
let lastText = '';

/** The resolution of `microTimeOf`. */
export const MICRO_TIME_LENGTH = '2026-11-15T08:30:00.123456Z'.length;
/** Where in it the microseconds stand, six digits. */
export const MICROS_AT = '2026-11-15T08:30:00.'.length;

/** `2026-11-15T08:30:00.123456Z`: a moment in whole milliseconds, and the microseconds that have passed since. */
export function microTimeOf(ms: number, elapsedUs: number): string {
  const micros = ms * 1000 + elapsedUs;
  const second = Math.floor(micros / 1e6);
  if (second !== lastSecond) {
    lastText = new Date(second * 1000).toISOString().slice(0, MICROS_AT);
    lastSecond = second;
  }
  return `${lastText}${String(micros - second * 1e6).padStart(6, '0')}Z`;
}
