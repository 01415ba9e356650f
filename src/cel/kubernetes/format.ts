// Formats with names: the API's own rules for strings, for use in expressions.
import { parseGoRequestUri } from '../../lib/go/url.js';
import {
  isQualifiedName,
  isValidLabelValue,
  nameIsDns1035Label,
  nameIsDnsLabel,
  nameIsDnsSubdomain,
} from '../../machinery/validation/names.js';
import { matchesFormat } from '../../machinery/validation/string-formats.js';
import type { Library } from '../library.js';
import { STRING, listType, objectType, optionalType } from '../type.js';
import { ArrayList, OpaqueValue, Optional, type Value, noSuchOverload } from '../value.js';

const FORMAT = objectType('kubernetes.NamedFormat');

export class FormatValue extends OpaqueValue {
  readonly type = FORMAT;
  constructor(
    readonly name: string,
    /** What is wrong with a text. */
    readonly check: (text: string) => readonly string[],
    /** The length of a pattern that would check as much: checks cost as if they were one. */
    readonly patternLength: number,
  ) {
    super();
  }
  equal(other: Value): Value {
    return other instanceof FormatValue ? this.name === other.name : noSuchOverload();
  }
}

const known = (format: string, wrong: string) => (text: string) => (matchesFormat(format, text) ? [] : [wrong]);

function checkUri(text: string): string[] {
  const url = parseGoRequestUri(text);
  return 'error' in url ? [url.error] : [];
}

const DATE_TIME_PATTERN_LENGTH = 71;

const FORMATS: ReadonlyMap<string, FormatValue> = new Map([
  ['dns1123Label', new FormatValue('DNS1123Label', (text) => nameIsDnsLabel(text, false), 30)],
  ['dns1123Subdomain', new FormatValue('DNS1123Subdomain', (text) => nameIsDnsSubdomain(text, false), 60)],
  ['dns1035Label', new FormatValue('DNS1035Label', (text) => nameIsDns1035Label(text, false), 30)],
  ['qualifiedName', new FormatValue('QualifiedName', isQualifiedName, 60)],
  ['dns1123LabelPrefix', new FormatValue('DNS1123LabelPrefix', (text) => nameIsDnsLabel(text, true), 30)],
  ['dns1123SubdomainPrefix', new FormatValue('DNS1123SubdomainPrefix', (text) => nameIsDnsSubdomain(text, true), 60)],
  ['dns1035LabelPrefix', new FormatValue('DNS1035LabelPrefix', (text) => nameIsDns1035Label(text, true), 30)],
  ['labelValue', new FormatValue('LabelValue', isValidLabelValue, 40)],
  ['uri', new FormatValue('URI', checkUri, 1103)],
  ['uuid', new FormatValue('uuid', known('uuid', 'does not match the UUID format'), 70)],
  ['byte', new FormatValue('byte', known('byte', 'invalid base64'), 84)],
  ['date', new FormatValue('date', known('date', 'invalid date'), DATE_TIME_PATTERN_LENGTH)],
  ['datetime', new FormatValue('datetime', known('datetime', 'invalid datetime'), DATE_TIME_PATTERN_LENGTH)],
]);

export const formatLibrary: Library = {
  name: 'kubernetes.format',
  functions: [
    {
      name: 'validate',
      overloads: [
        {
          id: 'format-validate',
          member: true,
          parameters: [FORMAT, STRING],
          result: optionalType(listType(STRING)),
          call: ({ check }: FormatValue, text: string) => {
            const wrong = check(text);
            return wrong.length === 0 ? Optional.none : Optional.of(new ArrayList(wrong));
          },
        },
      ],
    },
    {
      name: 'format.named',
      overloads: [
        {
          id: 'format-named',
          parameters: [STRING],
          result: optionalType(FORMAT),
          call: (name: string) => {
            const format = FORMATS.get(name);
            return format === undefined ? Optional.none : Optional.of(format);
          },
        },
      ],
    },
    ...Array.from(FORMATS, ([name, format]) => ({
      name: `format.${name}`,
      overloads: [{ id: `format.${name}`, parameters: [], result: FORMAT, call: () => format }],
    })),
  ],
};
