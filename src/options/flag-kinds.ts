// The kinds of value a flag may have: how a text becomes a value, how a default is shown, and what a repeated flag
// does. Types and defaults of the tables in flags/ are built on these.
import { trimEnd } from '../lib/text/trim-end.js';
import { CsvError, parseCsv } from '../lib/text/csv.js';
import { errorText } from '../lib/text/error-text.js';
import { goQuote } from '../lib/go/quote.js';
import { ipText, parseIp } from '../lib/values/ip-address.js';
import { parseBool, parseFloat32, parseFloat64, parseInteger, SyntaxMistake } from '../lib/go/strconv.js';
import { GIT_VERSION } from '../machinery/names.js';
import { parseQuantity, QuantityError, scaledValue } from '../machinery/quantity.js';
import { formatDurationMs, parseDurationMs, TimeError } from '../machinery/time.js';

export interface NamedCertificate {
  readonly certFile: string;
  readonly keyFile: string;
  /** Domain patterns or addresses; empty for the certificate's own names. */
  readonly names: readonly string[];
}

/** Ports from `base` on, `size` of them; size 0 for none. */
export interface PortRange {
  readonly base: number;
  readonly size: number;
}

export interface ModuleVerbosity {
  readonly pattern: string;
  readonly verbosity: number;
}

export type StringMap = Readonly<Record<string, string>>;

export interface FlagKind<T> {
  /** The word for the value in help. */
  readonly word: string;
  /** The value without a default and without the flag. */
  readonly zero: T;
  /** `previous` is the value after earlier uses of the flag on this command line; undefined on the first. */
  read(text: string, previous: T | undefined): T;
  /** How a default is shown; empty when it is not worth showing. */
  show(value: T): string;
  /** The text meant when the flag stands without a value; absent when a value is needed. */
  readonly bare?: string;
}

/** The errors a text that is no value of its kind meets; all others are ours. */
export const isValueMistake = (error: unknown): error is Error =>
  error instanceof SyntaxMistake ||
  error instanceof CsvError ||
  error instanceof TimeError ||
  error instanceof QuantityError;

/** A text of line ends only has none. */
function firstRecord(text: string): readonly string[] {
  const [record] = parseCsv(text);
  if (record === undefined) throw new CsvError('EOF');
  return record.fields;
}

const kind = <T>(made: FlagKind<T>): FlagKind<T> => made;
const integer = (word: string, rules: Parameters<typeof parseInteger>[1]) =>
  kind<number>({
    word,
    zero: 0,
    read: (text) => parseInteger(text, rules),
    show: (value) => (value === 0 ? '' : String(value)),
  });
const floating = (word: string, read: (text: string) => number) =>
  kind<number>({ word, zero: 0, read, show: (value) => (value === 0 ? '' : String(value)) });
const list = (word: string, split: (text: string) => readonly string[]) =>
  kind<readonly string[]>({
    word,
    zero: [],
    read: (text, previous = []) => [...previous, ...split(text)],
    show: (value) => (value.length === 0 ? '' : `[${value.join(',')}]`),
  });
const stringMap = (word: string, pairs: (text: string) => Iterable<readonly [string, string]>) =>
  kind<StringMap>({
    word,
    zero: {},
    read: (text, previous = {}) => ({ ...previous, ...Object.fromEntries(pairs(text)) }),
    show: () => '',
  });

export const FLAG_KINDS = {
  bool: kind<boolean>({
    word: '',
    zero: false,
    read: parseBool,
    show: (value) => (value ? 'true' : ''),
    bare: 'true',
  }),
  string: kind<string>({
    word: 'string',
    zero: '',
    read: (text) => text,
    show: (value) => (value === '' ? '' : goQuote(value)),
  }),
  strings: list('strings', (text) => (text === '' ? [] : firstRecord(text))),
  stringArray: list('stringArray', (text) => [text]),
  int: integer('int', { as: 'ParseInt', bits: 64, signed: true, base: 0 }),
  uint: integer('uint', { as: 'ParseUint', bits: 64, signed: false, base: 0 }),
  float: floating('float', parseFloat64),
  float32: floating('float32', parseFloat32),
  duration: kind<number>({
    word: 'duration',
    zero: 0,
    read: parseDurationMs,
    show: (value) => (value === 0 ? '' : formatDurationMs(value)),
  }),
  ip: kind<string>({ word: 'ip', zero: '', read: readIp, show: (value) => value }),
  portRange: kind<PortRange>({
    word: 'portRange',
    zero: { base: 0, size: 0 },
    read: readPortRange,
    show: portRangeText,
  }),
  /** `key=value` pairs with commas between; a key alone has the empty value. */
  settings: stringMap('key=value,...', function* (text) {
    for (const pair of text.split(',')) {
      if (pair === '') continue;
      const [key, value] = splitOnce(pair, '=');
      yield [key.trim(), (value ?? '').trim()];
    }
  }),
  /** One `key=value` pair for each use of the flag. */
  pair: stringMap('key=value', (text) => {
    const [key, value] = splitOnce(text, '=');
    if (value === undefined) throw new SyntaxMistake('malformed pair, expect string=string');
    return [[key.trim(), value.trim()]];
  }),
  /** `key=value` pairs where a lone pair may hold commas of its own. */
  stringToString: stringMap('stringToString', function* (text) {
    const signs = text.split('=').length - 1;
    if (signs === 0) throw new SyntaxMistake(`${text} must be formatted as key=value`);
    for (const pair of signs === 1 ? [withoutQuotes(text)] : firstRecord(text)) {
      const [key, value] = splitOnce(pair, '=');
      if (value === undefined) throw new SyntaxMistake(`${pair} must be formatted as key=value`);
      yield [key, value];
    }
  }),
  /** `component:text` entries with commas between; without a component the key is empty. */
  byComponent: kind<Readonly<Record<string, readonly string[]>>>({
    word: 'component:key=value,...',
    zero: {},
    read: readByComponent,
    show: () => '',
  }),
  namedCertificates: kind<readonly NamedCertificate[]>({
    word: 'certificate,key[:names]',
    zero: [],
    read: (text, previous = []) => [...previous, readNamedCertificate(text)],
    show: () => '',
  }),
  /** A number of bytes: `512`, `1k`, `2Ki`, `3M`. */
  quantity: kind<number>({
    word: 'quantity',
    zero: 0,
    read: (text) => Number(scaledValue(parseQuantity(text))),
    show: () => '',
  }),
  level: integer('Level', { as: 'ParseUint', bits: 31, signed: false, base: 10 }),
  modules: kind<readonly ModuleVerbosity[]>({
    word: 'pattern=N,...',
    zero: [],
    read: (text, previous = []) => [...previous, ...readModules(text)],
    show: () => '',
  }),
  version: kind<string>({
    word: 'version[=true]',
    zero: 'false',
    read: readVersionRequest,
    show: () => '',
    bare: 'true',
  }),
} as const;

export type FlagType = keyof typeof FLAG_KINDS;
export type FlagValue<T extends FlagType> = (typeof FLAG_KINDS)[T]['zero'];

export function portRangeText({ base, size }: PortRange): string {
  return size === 0 ? '' : `${base}-${base + size - 1}`;
}

function withoutQuotes(text: string): string {
  let start = 0;
  while (text[start] === '"') start++;
  return trimEnd(text.slice(start), '"');
}

function splitOnce(text: string, separator: string): [string, string | undefined] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + separator.length)];
}

function readIp(text: string): string {
  if (text === '') return '';
  const ip = parseIp(text.trim());
  if (ip === undefined || ip.leadingZeros) throw new SyntaxMistake(`failed to parse IP: ${goQuote(text)}`);
  return ipText(ip);
}

function readPortRange(text: string): PortRange {
  const value = text.trim();
  if (value === '') return { base: 0, size: 0 };
  const number = (digits: string) => parseInteger(digits, { as: 'Atoi', bits: 64, signed: true, base: 10 });
  const [beforeHyphen, afterHyphen] = splitOnce(value, '-');
  const [beforePlus, afterPlus] = splitOnce(value, '+');
  if (afterHyphen !== undefined && afterPlus !== undefined) {
    throw new SyntaxMistake(`unable to parse port range: ${value}`);
  }
  const base = number(afterHyphen !== undefined ? beforeHyphen : beforePlus);
  const last =
    afterHyphen !== undefined ? number(afterHyphen) : afterPlus !== undefined ? base + number(afterPlus) : base;
  if (base > 65535 || last > 65535) {
    throw new SyntaxMistake(`the port range cannot be greater than 65535: ${value}`);
  }
  if (last < base) throw new SyntaxMistake(`end port cannot be less than start port: ${value}`);
  return { base, size: last - base + 1 };
}

function readByComponent(text: string, previous: Readonly<Record<string, readonly string[]>> = {}) {
  const all: Record<string, readonly string[]> = { ...previous };
  for (const entry of text.split(',')) {
    if (entry === '') continue;
    const [first, second] = splitOnce(entry, ':');
    const component = second === undefined ? '' : first.trim();
    all[component] = [...(all[component] ?? []), (second ?? first).trim()];
  }
  return all;
}

function readNamedCertificate(text: string): NamedCertificate {
  const [files, names] = splitOnce(text, ':');
  if (names?.trim() === '') throw new SyntaxMistake('empty names list is not allowed');
  const [certFile, keyFile, ...more] = files.trim().split(',');
  if (certFile === undefined || keyFile === undefined || more.length > 0) {
    throw new SyntaxMistake('expected comma separated certificate and key file paths');
  }
  return {
    certFile: certFile.trim(),
    keyFile: keyFile.trim(),
    names:
      names === undefined
        ? []
        : names
            .trim()
            .split(',')
            .map((name) => name.trim()),
  };
}

function readModules(text: string): ModuleVerbosity[] {
  return text
    .split(',')
    .filter((entry) => entry !== '')
    .map((entry) => {
      const [pattern, level, ...more] = entry.split('=');
      if (!pattern || !level || more.length > 0) {
        throw new SyntaxMistake(`${goQuote(entry)} does not have the pattern=N format`);
      }
      try {
        return { pattern, verbosity: FLAG_KINDS.level.read(level, undefined) };
      } catch (error) {
        throw new SyntaxMistake(`parsing verbosity in ${goQuote(entry)}: ${errorText(error)}`);
      }
    });
}

/** `true`, `false`, `raw`, or a version of this very release to report instead of our own. */
function readVersionRequest(text: string): string {
  if (text === 'raw') return text;
  if (!text.startsWith('v')) return String(parseBool(text));
  if (text === GIT_VERSION) return text;
  const semantic = /^v((?:0|[1-9][0-9]*)\.(?:0|[1-9][0-9]*)\.(?:0|[1-9][0-9]*))([-+].*)?$/.exec(text);
  if (semantic === null) {
    const why = /^v[0-9]/.test(text)
      ? `illegal version string ${goQuote(text)}`
      : `could not parse ${goQuote(text)} as version`;
    throw new SyntaxMistake(why);
  }
  if (`v${semantic[1]}` !== GIT_VERSION) {
    throw new SyntaxMistake(
      `version ${goQuote(text)} must match major/minor/patch of default version ${goQuote(GIT_VERSION)}`,
    );
  }
  return text;
}
