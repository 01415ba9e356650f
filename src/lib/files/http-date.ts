// Times as HTTP's headers have them.
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const DAY = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)';
const LONG_DAY = '(?:Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)';
const TIME = '(?<hour>[0-9]{2}):(?<minute>[0-9]{2}):(?<second>[0-9]{2})';
/** The form of today, and the two that were before it. */
const FORMS = [
  new RegExp(`^${DAY}, (?<day>[0-9]{2}) (?<month>[A-Z][a-z]{2}) (?<year>[0-9]{4}) ${TIME} GMT$`),
  new RegExp(`^${LONG_DAY}, (?<day>[0-9]{2})-(?<month>[A-Z][a-z]{2})-(?<year>[0-9]{2}) ${TIME} [A-Z]{3}$`),
  new RegExp(`^${DAY} (?<month>[A-Z][a-z]{2}) (?<day>[ 0-9][0-9]) ${TIME} (?<year>[0-9]{4})$`),
];
/** Years of two digits from here on are of the last century. */
const PIVOT = 69;

export const httpDate = (ms: number): string => new Date(ms).toUTCString();

/** Milliseconds since the epoch; undefined for what is no time. */
export function parseHttpDate(text: string): number | undefined {
  for (const form of FORMS) {
    const parts = form.exec(text)?.groups;
    if (parts !== undefined) return timeOf(parts);
  }
  return undefined;
}

function timeOf(parts: Readonly<Record<string, string>>): number | undefined {
  const number = (name: string): number => Number(parts[name]);
  const month = MONTHS.indexOf(parts['month'] ?? '');
  const year = parts['year']?.length === 2 ? number('year') + (number('year') >= PIVOT ? 1900 : 2000) : number('year');
  const [day, hour, minute, second] = [number('day'), number('hour'), number('minute'), number('second')];
  const time = new Date(Date.UTC(year, month, day, hour, minute, second));
  const exists = month >= 0 && time.getUTCDate() === day && hour < 24 && minute < 60 && second < 60;
  return exists ? time.getTime() : undefined;
}
