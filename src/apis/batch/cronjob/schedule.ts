// The five fields of a cron schedule, and the words for what is wrong with them.
import { goQuote } from '../../../lib/go/quote.js';
import { parseDuration, TimeError } from '../../../machinery/time.js';
import { isKnownTimeZone } from './time-zone.js';

interface Bounds {
  readonly min: number;
  readonly max: number;
  readonly names?: readonly string[];
}

const MONTHS = ['', 'jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const FIELDS: readonly Bounds[] = [
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  { min: 1, max: 31 },
  { min: 1, max: 12, names: MONTHS },
  { min: 0, max: 6, names: DAYS },
];
const DESCRIPTORS = ['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly'];
const EVERY = '@every ';

/** Undefined when the schedule is well-formed. */
export function scheduleError(schedule: string): string | undefined {
  if (schedule === '') return 'empty spec string';
  let text = schedule;
  if (text.startsWith('TZ=') || text.startsWith('CRON_TZ=')) {
    const space = text.indexOf(' ');
    const zone = text.slice(text.indexOf('=') + 1, space < 0 ? undefined : space);
    if (!isKnownTimeZone(zone)) return `provided bad location ${zone}: unknown time zone ${zone}`;
    text = space < 0 ? '' : text.slice(space).trim();
  }
  if (text.startsWith('@')) return descriptorError(text);
  const fields = text.split(/\s+/).filter((field) => field !== '');
  if (fields.length !== FIELDS.length) {
    return `expected exactly ${FIELDS.length} fields, found ${fields.length}: [${fields.join(' ')}]`;
  }
  for (const [position, bounds] of FIELDS.entries()) {
    for (const part of (fields[position] ?? '').split(',')) {
      const error = part === '' ? undefined : rangeError(part, bounds);
      if (error !== undefined) return error;
    }
  }
  return undefined;
}

function descriptorError(text: string): string | undefined {
  if (DESCRIPTORS.includes(text)) return undefined;
  if (!text.startsWith(EVERY)) return `unrecognized descriptor: ${text}`;
  try {
    parseDuration(text.slice(EVERY.length));
    return undefined;
  } catch (error) {
    if (!(error instanceof TimeError)) throw error;
    return `failed to parse duration ${text}: ${error.message}`;
  }
}

/** `number`, `*`, `number-number`, each with an optional `/step`. */
function rangeError(text: string, { min, max, names }: Bounds): string | undefined {
  const [range = '', stepText, ...moreSteps] = text.split('/');
  const [low = '', high, ...moreHigh] = range.split('-');
  let start = min;
  let end = max;
  if (low !== '*' && low !== '?') {
    const first = parseNumber(low, names);
    if (typeof first === 'string') return first;
    start = first;
    end = first;
    if (moreHigh.length > 0) return `too many hyphens: ${text}`;
    if (high !== undefined) {
      const last = parseNumber(high, names);
      if (typeof last === 'string') return last;
      end = last;
    }
  }
  if (moreSteps.length > 0) return `too many slashes: ${text}`;
  let step = 1;
  if (stepText !== undefined) {
    const parsed = parseNumber(stepText, undefined);
    if (typeof parsed === 'string') return parsed;
    step = parsed;
    if (high === undefined) end = max;
  }
  if (start < min) return `beginning of range (${start}) below minimum (${min}): ${text}`;
  if (end > max) return `end of range (${end}) above maximum (${max}): ${text}`;
  if (start > end) return `beginning of range (${start}) beyond end of range (${end}): ${text}`;
  return step === 0 ? `step of range should be a positive number: ${text}` : undefined;
}

function parseNumber(text: string, names: readonly string[] | undefined): number | string {
  const named = text === '' ? -1 : (names?.indexOf(text.toLowerCase()) ?? -1);
  if (named >= 0) return named;
  if (!/^[+-]?\d+$/.test(text)) {
    return `failed to parse int from ${text}: strconv.Atoi: parsing ${goQuote(text)}: invalid syntax`;
  }
  const number = Number(text);
  return number < 0 ? `negative number (${number}) not allowed: ${text}` : number;
}
