// The API's times and durations: Go's reading of RFC 3339, formatted in UTC to the second or the microsecond.
import { trimEnd } from '../lib/text/trim-end.js';
import { daysIn, daysSince1970, dayText, padded } from './calendar.js';
import { timeFault } from './time-fault.js';

/** A time as the API encodes it: `2024-05-06T07:08:09Z`. The zero time is null. */
// hot: for each time of a written object.
export function canonicalTime(text: string): string | null {
  const { seconds } = parseTime(text);
  // No other form has this length.
  if (text.length === ZERO_TIME.length) return seconds === zeroSeconds ? null : text;
  return formatTime(seconds);
}

/** A time to the microsecond: `2024-05-06T07:08:09.000000Z`. The zero time is null. */
// hot: on every update of a lease.
export function canonicalMicroTime(text: string): string | null {
  const instant = readTime(text);
  if (instant?.fractionDigits !== 6) throw new TimeError(timeFault(text, true));
  const { seconds, nanos } = instant;
  const isCanonical = text.length === MICRO_LENGTH && text.charCodeAt(ZERO_TIME.length - 1) === DOT;
  return isCanonical && seconds !== zeroSeconds ? text : formatMicroTime(seconds, nanos);
}

export interface Instant {
  /** Since 1970, whole. */
  readonly seconds: number;
  readonly nanos: number;
  /** How far east of UTC the text was written. */
  readonly offsetSeconds: number;
  readonly fractionDigits: number;
}

export function parseTime(text: string): Instant {
  const instant = readTime(text);
  if (instant === undefined) throw new TimeError(timeFault(text, false));
  return instant;
}

/** As in the layout, then as many digits of a second as there are behind a dot or comma, and `Z` or `+01:00`. */
// hot: for each time of a written object. In one loop, which is little code.
function readTime(text: string): Instant | undefined {
  const parts = [0, 0, 0, 0, 0, 0];
  let part = 0;
  let at = 0;
  for (let place = 0; place < LAYOUT.length; place++) {
    const code = text.charCodeAt(at);
    if (LAYOUT.charCodeAt(place) === ZERO) {
      // Go accepts an hour of one digit.
      if (place === SECOND_OF_HOUR && code === COLON) continue;
      if (!isDigit(code)) return undefined;
      parts[part] = (parts[part] as number) * 10 + code - ZERO;
    } else if (code === LAYOUT.charCodeAt(place)) part++;
    else return undefined;
    at++;
  }
  const [year, month, day, hour, minute, second] = parts as [number, number, number, number, number, number];
  if (day < 1 || day > daysIn(month, year) || hour > 23 || minute > 59 || second > 59) return undefined;
  let nanos = 0;
  let fractionDigits = 0;
  if (text.charCodeAt(at) === DOT || text.charCodeAt(at) === COMMA) {
    for (at++; isDigit(text.charCodeAt(at)); at++)
      if (fractionDigits++ < 9) nanos = nanos * 10 + text.charCodeAt(at) - ZERO;
    if (fractionDigits === 0) return undefined;
    for (let digits = fractionDigits; digits < 9; digits++) nanos *= 10;
  }
  const offsetSeconds = zoneSeconds(text, at);
  if (offsetSeconds === undefined) return undefined;
  const seconds = ((daysSince1970(year, month, day) * 24 + hour) * 60 + minute) * 60 + second - offsetSeconds;
  return { seconds, nanos, offsetSeconds, fractionDigits };
}

/** Of that many digits; what has others is no number. */
function numberAt(text: string, start: number, digits: number): number {
  let value = 0;
  for (let at = start; at < start + digits; at++) {
    const code = text.charCodeAt(at);
    if (!isDigit(code)) return Number.NaN;
    value = value * 10 + code - ZERO;
  }
  return value;
}

const isDigit = (code: number): boolean => code >= ZERO && code <= NINE;

/** Of the zone that a text ends with. */
function zoneSeconds(text: string, at: number): number | undefined {
  const sign = text.charCodeAt(at);
  if (sign === LETTER_Z) return text.length === at + 1 ? 0 : undefined;
  if ((sign !== PLUS && sign !== MINUS) || text.charCodeAt(at + 3) !== COLON || text.length !== at + 6)
    return undefined;
  const hours = numberAt(text, at + 1, 2);
  const minutes = numberAt(text, at + 4, 2);
  if (!(hours <= 24 && minutes < 60)) return undefined;
  return (sign === MINUS ? -1 : 1) * (hours * 3600 + minutes * 60);
}

/** The text of a time in seconds since 1970; null for the zero time. */
export function formatTime(seconds: number): string | null {
  if (seconds === zeroSeconds) return null;
  return `${isoSeconds(seconds)}Z`;
}

export function formatMicroTime(seconds: number, nanos: number): string | null {
  if (seconds === zeroSeconds && nanos === 0) return null;
  return `${isoSeconds(seconds)}.${padded(Math.floor(nanos / 1000), 6)}Z`;
}

// hot: several times on every write, mostly for one and the same second.
export function timeOf(date: Date): string {
  const second = Math.floor(date.getTime() / 1000);
  if (second !== lastSecond) {
    lastText = `${isoSeconds(second)}Z`;
    lastSecond = second;
  }
  return lastText;
}

let lastSecond = Number.NaN;
let lastText = '';

/** As Go's package of times quotes: every byte beyond printable ASCII by its number. */
const quoted = (text: string): string =>
  `"${text.replace(/["\\]|[^ -~]+/g, (found) =>
    found === '"' || found === '\\' ? `\\${found}` : Buffer.from(found).toString('hex').replace(/../g, '\\x$&'),
  )}"`;

/** Nanoseconds of a text such as `1h30m` or `1.5s`. */
export function parseDuration(text: string): bigint {
  const match = /^([-+]?)(.*)$/s.exec(text);
  const body = match?.[2] ?? '';
  if (body === '0') return 0n;
  if (body === '' || body.length > MAX_DURATION_CHARACTERS) {
    throw new TimeError(`time: invalid duration ${quoted(text)}`);
  }
  let total = 0n;
  let rest = body;
  while (rest !== '') {
    const part = /^([0-9]*)(?:\.([0-9]*))?([^0-9.]*)/.exec(rest);
    const [all = '', whole = '', fraction = '', unit = ''] = part ?? [];
    if (whole === '' && fraction === '') throw new TimeError(`time: invalid duration ${quoted(text)}`);
    if (unit === '') throw new TimeError(`time: missing unit in duration ${quoted(text)}`);
    const size = durationUnits.get(unit);
    if (size === undefined) {
      throw new TimeError(`time: unknown unit ${quoted(unit)} in duration ${quoted(text)}`);
    }
    const digits = fraction.slice(0, 18);
    const significant = whole.replace(/^0+/, '');
    if (significant.length > MAX_DURATION_DIGITS) {
      throw new TimeError(`time: invalid duration ${quoted(text)}`);
    }
    total += BigInt(significant || '0') * size + (BigInt(digits || '0') * size) / 10n ** BigInt(digits.length);
    rest = rest.slice(all.length);
  }
  const limit = match?.[1] === '-' ? 2n ** 63n : 2n ** 63n - 1n;
  if (total > limit) throw new TimeError(`time: invalid duration ${quoted(text)}`);
  return match?.[1] === '-' ? -total : total;
}

/** As Go formats a duration: `1h30m0s`, `1.5s`, `20ms`, `0s`. */
export function formatDuration(nanoseconds: bigint): string {
  if (nanoseconds === 0n) return '0s';
  const sign = nanoseconds < 0n ? '-' : '';
  const magnitude = nanoseconds < 0n ? -nanoseconds : nanoseconds;
  if (magnitude < 1_000n) return `${sign}${magnitude}ns`;
  if (magnitude < 1_000_000n) return `${sign}${decimal(magnitude, 3)}µs`;
  if (magnitude < 1_000_000_000n) return `${sign}${decimal(magnitude, 6)}ms`;
  const seconds = decimal(magnitude % 60_000_000_000n, 9);
  const minutes = magnitude / 60_000_000_000n;
  if (minutes === 0n) return `${sign}${seconds}s`;
  if (minutes < 60n) return `${sign}${minutes}m${seconds}s`;
  return `${sign}${minutes / 60n}h${minutes % 60n}m${seconds}s`;
}

export const parseDurationMs = (text: string): number => Number(parseDuration(text)) / NANOSECONDS_PER_MS;

export const formatDurationMs = (ms: number): string => formatDuration(BigInt(Math.round(ms * NANOSECONDS_PER_MS)));

export const canonicalDuration = (text: string): string => formatDuration(parseDuration(text));

export class TimeError extends Error {}

const NANOSECONDS_PER_MS = 1e6;
export const ZERO_TIME = '0001-01-01T00:00:00Z';
/** A digit stands where there is a 0. */
const LAYOUT = '0000-00-00T00:00:00';
const SECOND_OF_HOUR = 12;
const MICRO_LENGTH = '0001-01-01T00:00:00.000000Z'.length;
const zeroSeconds = -62135596800;
const [ZERO, NINE] = [0x30, 0x39];
const [PLUS, COMMA, MINUS, DOT, COLON] = [0x2b, 0x2c, 0x2d, 0x2e, 0x3a];
const LETTER_Z = 0x5a;
const durationUnits: ReadonlyMap<string, bigint> = new Map([
  ['ns', 1n],
  ['us', 1_000n],
  ['µs', 1_000n],
  ['μs', 1_000n],
  ['ms', 1_000_000n],
  ['s', 1_000_000_000n],
  ['m', 60_000_000_000n],
  ['h', 3_600_000_000_000n],
]);
/** Of a number of 64 bits. */
const MAX_DURATION_DIGITS = 19;
/** Longer ones repeat a unit again and again, which is slow to parse. */
const MAX_DURATION_CHARACTERS = 4096;

/** Most times of a cluster lie on few days: the day's text is kept from one call to the next. */
let lastDay = Number.NaN;
let lastDayText = '';

function isoSeconds(seconds: number): string {
  const day = Math.floor(seconds / 86_400);
  if (day !== lastDay) {
    lastDayText = dayText(day);
    lastDay = day;
  }
  const rest = seconds - day * 86_400;
  const hours = Math.floor(rest / 3600);
  const minutes = Math.floor((rest - hours * 3600) / 60);
  return `${lastDayText}T${padded(hours, 2)}:${padded(minutes, 2)}:${padded(rest - hours * 3600 - minutes * 60, 2)}`;
}

/** value / 10^digits without trailing zeros. */
function decimal(value: bigint, digits: number): string {
  const scale = 10n ** BigInt(digits);
  const fraction = trimEnd((value % scale).toString().padStart(digits, '0'), '0');
  return fraction === '' ? `${value / scale}` : `${value / scale}.${fraction}`;
}
