// Strings, in the version (2) that Kubernetes has. Places and lengths count characters, not UTF-16 units.
import { indexOfText, lastIndexOfText } from './find-text.js';
import { GO_ESCAPES } from '../../lib/go/quote.js';
import { formatText, validateFormats } from './format.js';
import type { FunctionDeclaration, Library, Overload } from '../library.js';
import { plainText } from '../run/format-value.js';
import type { Pace } from '../run/frame.js';
import { joinTexts } from '../run/size-limits.js';
import { replacePaced, splitPaced } from '../run/pieces.js';
import { characters as lengthOf } from '../syntax/source.js';
import { DYN, INT, listType, STRING } from '../type.js';
import type { CelType } from '../type.js';
import type { CelList, Value } from '../value.js';
import { StringList, CelError } from '../value.js';

const TEXTS = listType(STRING);

const outOfRange = (index: bigint): CelError => new CelError(`index out of range: ${index}`);

/** Characters of a text; plain ones are not split. */
class Characters {
  private readonly points: readonly string[] | undefined;
  readonly length: number;

  constructor(private readonly text: string) {
    this.points = /[\ud800-\udfff]/.test(text) ? Array.from(text) : undefined;
    this.length = this.points?.length ?? text.length;
  }
  slice(start: number, end = this.length): string {
    return this.points === undefined ? this.text.slice(start, end) : this.points.slice(start, end).join('');
  }
  /** The place of a part at or after a place, or going backwards from it; -1 when it is not there. */
  find(part: string, from: number, step: 1 | -1): number {
    const unit = this.points === undefined ? from : this.slice(0, from).length;
    const found = step === 1 ? indexOfText(this.text, part, unit) : lastIndexOfText(this.text, part, unit);
    return this.points === undefined || found < 0 ? found : lengthOf(this.text.slice(0, found));
  }
}

function charAt(text: string, index: bigint): Value {
  const characters = new Characters(text);
  if (index < 0n || index > BigInt(characters.length)) return outOfRange(index);
  return characters.slice(Number(index), Number(index) + 1);
}

function indexOf(text: string, part: string, offset: bigint): Value {
  if (part === '') return offset;
  if (offset < 0n) return outOfRange(offset);
  const characters = new Characters(text);
  if (offset >= BigInt(characters.length)) return -1n;
  return BigInt(characters.find(part, Number(offset), 1));
}

function lastIndexOf(text: string, part: string, offset?: bigint): Value {
  const characters = new Characters(text);
  if (part === '') return offset ?? BigInt(characters.length);
  if (offset === undefined && Buffer.byteLength(text) < Buffer.byteLength(part)) return -1n;
  const from = offset ?? BigInt(characters.length - 1);
  if (from < 0n) return outOfRange(from);
  if (from >= BigInt(characters.length)) return -1n;
  const start = Math.min(Number(from), characters.length - new Characters(part).length);
  return BigInt(start < 0 ? -1 : characters.find(part, start, -1));
}

function substring(text: string, start: bigint, end?: bigint): Value {
  const characters = new Characters(text);
  const length = BigInt(characters.length);
  if (end !== undefined && start > end) {
    return new CelError(`invalid substring range. start: ${start}, end: ${end}`);
  }
  if (start < 0n || start > length) return outOfRange(start);
  if (end !== undefined && (end < 0n || end > length)) return outOfRange(end);
  return characters.slice(Number(start), end === undefined ? undefined : Number(end));
}

/** A negative count is no bound. */
const bound = (count: bigint): number => (count < 0n ? Infinity : Number(count));

/** What comes after the receiver in a call. */
type ReplaceArguments = [old: string, replacement: string, count: bigint, pace: Pace];

const replace = (text: string, ...[old, replacement, count, pace]: ReplaceArguments): string =>
  replacePaced(text, { old, replacement, most: bound(count) }, pace);

const split = (text: string, separator: string, count: bigint, pace: Pace): Value =>
  new StringList(count === 0n ? [] : splitPaced(text, separator, bound(count), pace));

function join(list: CelList, separator: string, pace: Pace): Value {
  for (const item of list) {
    pace.round();
    if (typeof item !== 'string') return new CelError(`join: invalid input: ${plainText(item)}`);
  }
  return joinTexts(inRounds(list as Iterable<string>, pace), separator);
}

function* inRounds<T>(items: Iterable<T>, pace: Pace): Iterable<T> {
  for (const item of items) {
    pace.round();
    yield item;
  }
}

/** The keys of GO_ESCAPES. */
const ESCAPED = /[\x07\b\f\n\r\t\v\\"]/g;

const quote = (text: string): string => `"${text.replace(ESCAPED, (c) => GO_ESCAPES[c] ?? c)}"`;

// Go trims what Unicode calls white space, which includes U+0085 and leaves U+FEFF alone.
const SPACE = /[\t\n\v\f\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/;

function trim(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && SPACE.test(text[start] ?? '')) start++;
  while (end > start && SPACE.test(text[end - 1] ?? '')) end--;
  return text.slice(start, end);
}

const member = (id: string, parameters: readonly CelType[], result: CelType, call: Overload['call']): Overload => ({
  id,
  member: true,
  parameters,
  result,
  call,
});

const paced = (...described: Parameters<typeof member>): Overload => ({ ...member(...described), paced: true });

const declare = (name: string, ...overloads: readonly Overload[]): FunctionDeclaration => ({ name, overloads });

export const stringsLibrary: Library = {
  name: 'strings',
  mixedLiterals: ['format'],
  validate: validateFormats,
  functions: [
    declare('charAt', member('string_char_at_int', [STRING, INT], STRING, charAt)),
    declare(
      'indexOf',
      member('string_index_of_string', [STRING, STRING], INT, (text: string, part: string) => indexOf(text, part, 0n)),
      member('string_index_of_string_int', [STRING, STRING, INT], INT, indexOf),
    ),
    declare(
      'lastIndexOf',
      member('string_last_index_of_string', [STRING, STRING], INT, (text: string, part: string) =>
        lastIndexOf(text, part),
      ),
      member('string_last_index_of_string_int', [STRING, STRING, INT], INT, lastIndexOf),
    ),
    declare(
      'lowerAscii',
      member('string_lower_ascii', [STRING], STRING, (text: string) =>
        text.replace(/[A-Z]+/g, (characters) => characters.toLowerCase()),
      ),
    ),
    declare(
      'upperAscii',
      member('string_upper_ascii', [STRING], STRING, (text: string) =>
        text.replace(/[a-z]+/g, (characters) => characters.toUpperCase()),
      ),
    ),
    declare(
      'replace',
      paced(
        'string_replace_string_string',
        [STRING, STRING, STRING],
        STRING,
        (text: string, a: string, b: string, pace: Pace) => replace(text, a, b, -1n, pace),
      ),
      paced('string_replace_string_string_int', [STRING, STRING, STRING, INT], STRING, replace),
    ),
    declare(
      'split',
      paced('string_split_string', [STRING, STRING], TEXTS, (text: string, separator: string, pace: Pace) =>
        split(text, separator, -1n, pace),
      ),
      paced('string_split_string_int', [STRING, STRING, INT], TEXTS, split),
    ),
    declare(
      'substring',
      member('string_substring_int', [STRING, INT], STRING, (text: string, start: bigint) => substring(text, start)),
      member('string_substring_int_int', [STRING, INT, INT], STRING, substring),
    ),
    declare('trim', member('string_trim', [STRING], STRING, trim)),
    declare('format', member('string_format', [STRING, listType(DYN)], STRING, formatText)),
    declare('strings.quote', { id: 'strings_quote', parameters: [STRING], result: STRING, call: quote }),
    declare(
      'join',
      paced('list_join', [TEXTS], STRING, (list: CelList, pace: Pace) => join(list, '', pace)),
      paced('list_join_string', [TEXTS, STRING], STRING, join),
    ),
  ],
};
