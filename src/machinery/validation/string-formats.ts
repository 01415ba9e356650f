// The string formats a schema can name. A format nobody knows is no rule at all.
import { parseGoRequestUri } from '../../lib/go/url.js';
import { parseIp } from '../../lib/values/ip-address.js';
import { parseLooseDuration } from './loose-duration.js';

/** Undefined: no such format. */
export function matchesFormat(format: string, text: string): boolean | undefined {
  return FORMATS.get(normalized(format))?.(text);
}

export const isKnownFormat = (format: string): boolean => FORMATS.has(normalized(format));

const normalized = (format: string): string => format.replaceAll('-', '');

const pattern =
  (expression: RegExp) =>
  (text: string): boolean =>
    expression.test(text);

const LONE_LABEL = /^[a-zA-Z0-9\p{S}\p{L}](?:-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?$/u;
const LABEL = /^[a-zA-Z0-9\p{S}\p{L}](?:[a-zA-Z0-9\-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?$/u;
const LAST_LABEL = /^[a-zA-Z\p{L}]{2,63}$/u;
const NUMBER_255 = '([0-9]|[1-9][0-9]|1[0-9]{2}|2[0-4][0-9]|25[0-5])';
const CREDIT_CARD =
  /^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|(222[1-9]|22[3-9][0-9]|2[3-6][0-9]{2}|27[01][0-9]|2720)[0-9]{12}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35\d{3})\d{11}|6[27][0-9]{14})$/;

const FORMATS: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ['bsonobjectid', pattern(/^[0-9a-fA-F]{24}$/)],
  ['uri', (text) => !('error' in parseGoRequestUri(text))],
  ['email', pattern(/^(?:[^<>@\s]+|"[^"\\]+"|.*<[^<>@\s]+)@[^<>@\s]+>?$/)],
  ['hostname', isHostname],
  ['ipv4', (text) => text.includes('.') && parseIp(withoutLeadingZeros(text)) !== undefined],
  ['ipv6', (text) => text.includes(':') && parseIp(text) !== undefined],
  ['cidr', isCidr],
  ['mac', isMac],
  ['uuid', pattern(/^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i)],
  ['uuid3', pattern(/^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i)],
  ['uuid4', pattern(/^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i)],
  ['uuid5', pattern(/^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i)],
  ['isbn', (text) => isIsbn10(text) || isIsbn13(text)],
  ['isbn10', isIsbn10],
  ['isbn13', isIsbn13],
  ['creditcard', isCreditCard],
  ['ssn', pattern(/^\d{3}[- ]\d{2}[- ]\d{4}$/)],
  ['hexcolor', pattern(/^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/)],
  ['rgbcolor', pattern(new RegExp(`^rgb\\(\\s*${NUMBER_255}\\s*,\\s*${NUMBER_255}\\s*,\\s*${NUMBER_255}\\s*\\)$`))],
  ['byte', pattern(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/)],
  ['password', () => true],
  ['date', isDate],
  ['duration', (text) => parseLooseDuration(text) !== undefined],
  ['datetime', isDateTime],
]);

function isHostname(text: string): boolean {
  if (Buffer.byteLength(text) > 255) return false;
  const labels = text.split('.');
  if (labels.some((label) => Buffer.byteLength(label) > 63)) return false;
  const last = labels.pop() ?? '';
  return labels.length === 0
    ? LONE_LABEL.test(last)
    : LAST_LABEL.test(last) && labels.every((label) => LABEL.test(label));
}

const withoutLeadingZeros = (text: string): string =>
  text
    .split('.')
    .map((part) => part.replace(/^0*(\d)/, '$1'))
    .join('.');

function isCidr(text: string): boolean {
  const [address = '', length = '', ...more] = text.split('/');
  const bits = address.includes(':') ? 128 : 32;
  const parsed = parseIp(address.includes(':') ? address : withoutLeadingZeros(address));
  return more.length === 0 && parsed !== undefined && /^\d{1,3}$/.test(length) && Number(length) <= bits;
}

function isMac(text: string): boolean {
  const forms = [/^([0-9a-f]{2}[:-]){5}([0-9a-f]{2}[:-]){0,14}[0-9a-f]{2}$/i, /^([0-9a-f]{4}\.){2,9}[0-9a-f]{4}$/i];
  const octets = text.replace(/[^0-9a-f]/gi, '').length / 2;
  return forms.some((form) => form.test(text)) && [6, 8, 20].includes(octets);
}

const digitsOf = (text: string): string => text.replace(/[- ]/g, '');

function isIsbn10(text: string): boolean {
  const digits = digitsOf(text);
  if (!/^(?:[0-9]{9}X|[0-9]{10})$/.test(digits)) return false;
  const sum = Array.from(digits).reduce(
    (total, digit, i) => total + (10 - i) * (digit === 'X' ? 10 : Number(digit)),
    0,
  );
  return sum % 11 === 0;
}

function isIsbn13(text: string): boolean {
  const digits = digitsOf(text);
  if (!/^[0-9]{13}$/.test(digits)) return false;
  return Array.from(digits).reduce((sum, digit, i) => sum + (i % 2 === 0 ? 1 : 3) * Number(digit), 0) % 10 === 0;
}

function isCreditCard(text: string): boolean {
  const digits = text.replace(/[^0-9]+/g, '');
  if (!CREDIT_CARD.test(digits)) return false;
  const sum = Array.from(digits)
    .reverse()
    .reduce((total, digit, i) => {
      const doubled = i % 2 === 0 ? Number(digit) : Number(digit) * 2;
      return total + (doubled > 9 ? doubled - 9 : doubled);
    }, 0);
  return sum % 10 === 0;
}

function isDate(text: string): boolean {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (match === null) return false;
  const [year, month, day] = match.slice(1).map(Number) as [number, number, number];
  const date = new Date(Date.UTC(2000, month - 1, day));
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

function isDateTime(text: string): boolean {
  const [date = '', time = '', ...more] = text.toLowerCase().split('t');
  if (more.length > 0 || !isDate(date)) return false;
  const match = /^([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))$/.exec(time);
  return match !== null && (match[1] ?? '') <= '23' && (match[2] ?? '') <= '59' && (match[3] ?? '') <= '59';
}
