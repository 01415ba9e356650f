// The API's times and durations: Go's reading of RFC 3339, formatted in UTC to the second or the microsecond.
import { trimEnd } from '../lib/text/trim-end.js';
import { timeFault } from './time-fault.js';

/** A time as the API encodes it: `2024-05-06T07:08:09Z`. The zero time is null. */
export function canonicalTime(text: string): string | null {
  // The usual case: already canonical.
  if (text.length === 20 && canonicalShape.test(text) && isRealDate(text)) return text === ZERO_TIME ? null : text;
  return formatTime(parseTime(text).seconds);
}

/** A time to the microsecond: `2024-05-06T07:08:09.000000Z`. The zero time is null. */
export function canonicalMicroTime(text: string): string | null {
  const instant = microShape.test(text) ? readTime(text) : undefined;
  if (instant === undefined) throw new TimeError(timeFault(text, true));
  return formatMicroTime(instant.seconds, instant.nanos);
}

export interface Instant {
  /** Since 1970, whole. */
  readonly seconds: number;
  readonly nanos: number;
  /** How far east of UTC the text was written. */
  readonly offsetSeconds: number;
}

export function parseTime(text: string): Instant {
  const instant = readTime(text);
  if (instant === undefined) throw new TimeError(timeFault(text, false));
  return instant;
}

function readTime(text: string): Instant | undefined {
  const [, day = '', hour = '', rest = '', fraction = '', zone = ''] = shape.exec(text) ?? [];
  const date = `${day}${hour.padStart(2, '0')}${rest}`;
  if (!isRealDate(date)) return undefined;
  const milliseconds = Date.parse(`${date}Z`);
  const offset = zone === 'Z' ? 0 : zoneSeconds(zone);
  if (Number.isNaN(milliseconds) || offset === undefined) return undefined;
  const nanos = Number(fraction.slice(1, 10).padEnd(9, '0'));
  return { seconds: milliseconds / 1000 - offset, nanos, offsetSeconds: offset };
}

/** The text of a time in seconds since 1970; null for the zero time. */
export function formatTime(seconds: number): string | null {
  if (seconds === zeroSeconds) return null;
  return `${isoSeconds(seconds)}Z`;
}

export function formatMicroTime(seconds: number, nanos: number): string | null {
  if (seconds === zeroSeconds && nanos === 0) return null;
  return `${isoSeconds(seconds)}.${String(Math.floor(nanos / 1000)).padStart(6, '0')}Z`;
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
/** Go accepts an hour of one digit. */
const shape = /^(\d{4}-\d\d-\d\dT)(\d\d?)(:\d\d:\d\d)([.,]\d+)?(Z|[-+]\d\d:\d\d)$/;
const microShape = /^\d{4}-\d\d-\d\dT\d\d?:\d\d:\d\d[.,]\d{6}(Z|[-+]\d\d:\d\d)$/;
const canonicalShape = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
export const ZERO_TIME = '0001-01-01T00:00:00Z';
const zeroSeconds = -62135596800;
const daysOfMonth = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
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

/** JavaScript would make 30 February 1 March, and 24:00 the next day. */
function isRealDate(text: string): boolean {
  const year = Number(text.slice(0, 4));
  const month = Number(text.slice(5, 7));
  const day = Number(text.slice(8, 10));
  const leapDay = month === 2 && ((year % 4 === 0 && year % 100 !== 0) || year % 400 === 0) ? 1 : 0;
  return (
    day >= 1 &&
    day <= (daysOfMonth[month - 1] ?? 0) + leapDay &&
    Number(text.slice(11, 13)) < 24 &&
    Number(text.slice(14, 16)) < 60 &&
    Number(text.slice(17, 19)) < 60
  );
}

function zoneSeconds(zone: string): number | undefined {
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(4, 6));
  if (hours > 24 || minutes >= 60) return undefined;
  return (zone.startsWith('-') ? -1 : 1) * (hours * 3600 + minutes * 60);
}

/** Most times of a cluster lie on few days: the day's text is kept from one call to the next. */
let lastDay = Number.NaN;
let lastDayText = '';

function isoSeconds(seconds: number): string {
  const day = Math.floor(seconds / 86_400);
  if (day !== lastDay) {
    lastDayText = new Date(day * 86_400_000).toISOString().slice(0, 11);
    lastDay = day;
  }
  const rest = seconds - day * 86_400;
  const hours = Math.floor(rest / 3600);
  const minutes = Math.floor((rest - hours * 3600) / 60);
  return `${lastDayText}${twoDigits(hours)}:${twoDigits(minutes)}:${twoDigits(rest - hours * 3600 - minutes * 60)}`;
}

const twoDigits = (value: number): string => (value < 10 ? `0${value}` : `${value}`);

/** value / 10^digits without trailing zeros. */
function decimal(value: bigint, digits: number): string {
  const scale = 10n ** BigInt(digits);
  const fraction = trimEnd((value % scale).toString().padStart(digits, '0'), '0');
  return fraction === '' ? `${value / scale}` : `${value / scale}.${fraction}`;
}
