// Timestamps and durations: parsing, formatting, and their parts in a time zone.
import { boundedMemo } from '../../lib/values/bounded-memo.js';
import { trimEnd } from '../../lib/text/trim-end.js';
import { parseDuration as parseGoDuration, parseTime, TimeError } from '../../machinery/time.js';
import { timestamp } from './arithmetic.js';
import { formatDecimal } from './format-number.js';
import { CelError, Duration, Timestamp } from '../value.js';
import type { Value } from '../value.js';

/** Of the tz database, about all that are used. */
const MAX_ZONES = 100;

export function parseTimestamp(text: string): Value {
  try {
    const { seconds, nanos, offsetSeconds } = parseTime(text);
    return timestamp(seconds, nanos, offsetSeconds);
  } catch (error) {
    if (error instanceof TimeError) return conversion('google.protobuf.Timestamp');
    throw error;
  }
}

export function parseDuration(text: string): Value {
  try {
    return new Duration(parseGoDuration(text));
  } catch (error) {
    if (error instanceof TimeError) return conversion('google.protobuf.Duration');
    throw error;
  }
}

const conversion = (to: string): CelError => new CelError(`type conversion error from 'string' to '${to}'`);

/** RFC 3339 in the zone it was written in, with as many digits of a second as there are. */
export function formatTimestamp({ seconds, nanos, offsetSeconds }: Timestamp): string {
  const date = new Date((seconds + offsetSeconds) * 1000).toISOString().slice(0, 19);
  const fraction = nanos === 0 ? '' : `.${trimEnd(String(nanos).padStart(9, '0'), '0')}`;
  return `${date}${fraction}${zoneText(offsetSeconds)}`;
}

function zoneText(offsetSeconds: number): string {
  if (offsetSeconds === 0) return 'Z';
  const minutes = Math.abs(offsetSeconds) / 60;
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${offsetSeconds < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

/** Seconds with a decimal point where one is needed: `3600s`, `1.5s`. */
export function formatDuration({ nanos }: Duration): string {
  return `${formatDecimal(secondsOf(nanos))}s`;
}

/** As kube-apiserver computes it: whole seconds, then the rest as a fraction. */
export function secondsOf(nanos: bigint): number {
  return Number(nanos / 1_000_000_000n) + Number(nanos % 1_000_000_000n) / 1e9;
}

export interface DateParts {
  readonly year: number;
  /** 0 to 11. */
  readonly month: number;
  /** 1 to 31. */
  readonly day: number;
  /** 0 to 365. */
  readonly dayOfYear: number;
  /** 0 is Sunday. */
  readonly dayOfWeek: number;
  readonly hours: number;
  readonly minutes: number;
  readonly seconds: number;
  readonly milliseconds: number;
}

/** The parts of a time in a zone: a name of the tz database, or an offset such as `-08:00`. */
export function partsIn(time: Timestamp, zone: string): DateParts | CelError {
  const offset = zone === 'UTC' || zone === '' ? 0 : zoneOffset(zone, time);
  if (offset instanceof CelError) return offset;
  const local = new Date((time.seconds + offset) * 1000);
  const year = local.getUTCFullYear();
  const newYear = new Date(0);
  newYear.setUTCFullYear(year, 0, 1);
  return {
    year,
    month: local.getUTCMonth(),
    day: local.getUTCDate(),
    dayOfYear: Math.floor((local.getTime() - newYear.getTime()) / 86_400_000),
    dayOfWeek: local.getUTCDay(),
    hours: local.getUTCHours(),
    minutes: local.getUTCMinutes(),
    seconds: local.getUTCSeconds(),
    milliseconds: Math.floor(time.nanos / 1_000_000),
  };
}

function zoneOffset(zone: string, time: Timestamp): number | CelError {
  const colon = zone.indexOf(':');
  if (colon < 0) return namedOffset(zone, time);
  const hours = atoi(zone.slice(0, colon));
  const minutes = atoi(zone.slice(colon + 1));
  if (hours instanceof CelError) return hours;
  if (minutes instanceof CelError) return minutes;
  return (zone.startsWith('-') ? hours * 60 - minutes : hours * 60 + minutes) * 60;
}

function atoi(text: string): number | CelError {
  if (/^[-+]?[0-9]+$/.test(text)) return Number(text);
  return new CelError(`strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`);
}

/** Creating one costs half a millisecond. */
const calendarOf = boundedMemo(
  MAX_ZONES,
  (zone: string) =>
    new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
      era: 'short',
    }),
);

function namedOffset(zone: string, time: Timestamp): number | CelError {
  try {
    const parts = calendarOf(zone).formatToParts(new Date(time.seconds * 1000));
    const part = (type: string): number => Number(parts.find((p) => p.type === type)?.value ?? 0);
    const local = new Date(0);
    local.setUTCFullYear(part('year'), part('month') - 1, part('day'));
    local.setUTCHours(part('hour'), part('minute'), part('second'));
    return local.getTime() / 1000 - time.seconds;
  } catch {
    return new CelError(`unknown time zone ${zone}`);
  }
}
