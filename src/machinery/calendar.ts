// Dates and the days since 1970 that they are, in the calendar of today through all times.
//
// Both count from a 1 March, so that what is irregular stands at the end: a leap day is the last day of its year, and the
// months before it repeat every five, in 153 days.

const DAYS_OF_400_YEARS = 146_097;
/** From 1 March of the year 0 to 1 January 1970. */
const DAYS_TO_1970 = 719_468;

export function daysSince1970(year: number, month: number, day: number): number {
  const fromMarch = month > 2 ? year : year - 1;
  const months = month > 2 ? month - 3 : month + 9;
  const leapDays = Math.floor(fromMarch / 4) - Math.floor(fromMarch / 100) + Math.floor(fromMarch / 400);
  return fromMarch * 365 + leapDays + Math.floor((153 * months + 2) / 5) + day - 1 - DAYS_TO_1970;
}

/** `2024-05-06` of a number of days since 1970. */
export function dayText(days: number): string {
  const all = days + DAYS_TO_1970;
  const era = Math.floor(all / DAYS_OF_400_YEARS);
  const inEra = all - era * DAYS_OF_400_YEARS;
  // All but the leap days of the years that are over.
  const regular = inEra - Math.floor(inEra / 1460) + Math.floor(inEra / 36_524) - Math.floor(inEra / 146_096);
  const yearInEra = Math.floor(regular / 365);
  const inYear = inEra - (365 * yearInEra + Math.floor(yearInEra / 4) - Math.floor(yearInEra / 100));
  const months = Math.floor((5 * inYear + 2) / 153);
  const day = inYear - Math.floor((153 * months + 2) / 5) + 1;
  const month = months < 10 ? months + 3 : months - 9;
  const year = era * 400 + yearInEra + (month <= 2 ? 1 : 0);
  return `${padded(year, 4)}-${padded(month, 2)}-${padded(day, 2)}`;
}

/** None of a month that is none. */
export function daysIn(month: number, year: number): number {
  const isLeapYear = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  return month === 2 && isLeapYear ? 29 : (DAYS_OF_MONTH[month - 1] ?? 0);
}

const DAYS_OF_MONTH = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** As Go pads. */
export function padded(value: number, digits: number): string {
  let text = `${Math.abs(value)}`;
  while (text.length < digits) text = `0${text}`;
  return value < 0 ? `-${text}` : text;
}
