// Durations as Go writes them: `1h30m`, `300ms`, `-1.5s`. In nanoseconds.
import { goQuote } from './go-quote.js';

/** A text that is not a duration. */
export class GoDurationError extends Error {}

const NANOSECONDS: Readonly<Record<string, number>> = {
  ns: 1,
  us: 1e3,
  µs: 1e3,
  μs: 1e3,
  ms: 1e6,
  s: 1e9,
  m: 60e9,
  h: 3600e9,
};
const MAX_NANOSECONDS = 2 ** 63;

export function parseGoDuration(text: string): number {
  const negative = text.startsWith('-');
  let rest = text.replace(/^[+-]/, '');
  if (rest === '0') return 0;
  if (rest === '') throw new GoDurationError(`time: invalid duration ${goQuote(text)}`);
  let total = 0;
  while (rest !== '') {
    const number = /^(?:[0-9]+\.?[0-9]*|\.[0-9]+)/.exec(rest)?.[0];
    if (number === undefined) throw new GoDurationError(`time: invalid duration ${goQuote(text)}`);
    rest = rest.slice(number.length);
    const unit = /^[^0-9.]*/.exec(rest)?.[0] ?? '';
    if (unit === '') throw new GoDurationError(`time: missing unit in duration ${goQuote(text)}`);
    const scale = NANOSECONDS[unit];
    if (scale === undefined) {
      throw new GoDurationError(`time: unknown unit ${goQuote(unit)} in duration ${goQuote(text)}`);
    }
    rest = rest.slice(unit.length);
    total += Number(number) * scale;
    if (total >= MAX_NANOSECONDS) throw new GoDurationError(`time: invalid duration ${goQuote(text)}`);
  }
  return negative ? -total : total;
}

/** `1m0s`, `1.5s`, `300ms`, `0s`. A fraction of a nanosecond is dropped. */
export function formatGoDuration(nanoseconds: number): string {
  const whole = Math.trunc(Math.abs(nanoseconds));
  if (whole === 0) return '0s';
  const sign = nanoseconds < 0 ? '-' : '';
  if (whole < 1e3) return `${sign}${whole}ns`;
  if (whole < 1e6) return `${sign}${whole / 1e3}µs`;
  if (whole < 1e9) return `${sign}${whole / 1e6}ms`;
  const minutes = Math.floor(whole / 60e9);
  const seconds = `${Number(((whole % 60e9) / 1e9).toFixed(9))}s`;
  if (minutes === 0) return `${sign}${seconds}`;
  return minutes < 60
    ? `${sign}${minutes}m${seconds}`
    : `${sign}${Math.floor(minutes / 60)}h${minutes % 60}m${seconds}`;
}
