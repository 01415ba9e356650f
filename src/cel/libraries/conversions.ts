// Functions named after types: they convert, or say that they cannot.
import { parseBool, parseFloat64, SyntaxMistake } from '../../lib/go/strconv.js';
import { signedOf, unsignedOf } from '../../lib/values/int64.js';
import type { FunctionDeclaration, Overload } from '../library.js';
import { doubleToInt, doubleToUint, int, timestamp, TIMESTAMP_OVERFLOW, uint } from '../run/arithmetic.js';
import { formatGeneral } from '../run/format-number.js';
import { formatDuration, formatTimestamp, parseDuration, parseTimestamp } from '../run/time.js';
import {
  BOOL,
  BYTES,
  CelType,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  STRING,
  TIMESTAMP,
  typeParam,
  typeType,
  UINT,
} from '../type.js';
import type { Duration, Timestamp, Value } from '../value.js';
import { CelError, typeOf, Uint } from '../value.js';

const A = typeParam('A');

const failed = (from: CelType, to: CelType): CelError =>
  new CelError(`type conversion error from '${from.name}' to '${to.name}'`);

function parseInteger(text: string, to: CelType): Value {
  const pattern = to === INT ? /^[-+]?[0-9]+$/ : /^[0-9]+$/;
  if (!pattern.test(text)) return failed(STRING, to);
  const value = to === INT ? signedOf(text) : unsignedOf(text);
  if (value === undefined) return failed(STRING, to);
  return to === INT ? int(value) : uint(value);
}

/** A parser of the strconv kind, whose failures all have one text. */
function parsed(to: CelType, parse: (text: string) => Value): (text: string) => Value {
  return (text) => {
    try {
      return parse(text);
    } catch (error) {
      if (error instanceof SyntaxMistake) return failed(STRING, to);
      throw error;
    }
  };
}

/** Go also reads hexadecimal floats and underscores never; the common form is what expressions hold. */
const parseDouble = parsed(DOUBLE, parseFloat64);

function decodeText(bytes: Uint8Array): Value {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return new CelError('invalid UTF-8 in bytes, cannot convert to string');
  }
}

function secondsToTimestamp(seconds: bigint): Value {
  if (seconds > 253_402_300_799n || seconds < -62_135_596_800n) return TIMESTAMP_OVERFLOW;
  return timestamp(Number(seconds), 0);
}

const same = (type: CelType, id: string): Overload => ({
  id,
  parameters: [type],
  result: type,
  call: (value: Value) => value,
});

const overload = (id: string, from: CelType, to: CelType, call: (value: never) => Value): Overload => ({
  id,
  parameters: [from],
  result: to,
  call,
});

export const CONVERSIONS: readonly FunctionDeclaration[] = [
  {
    name: 'type',
    overloads: [overload('type', A, typeType(A), (value: Value) => typeOf(value))],
  },
  { name: 'dyn', overloads: [{ id: 'to_dyn', parameters: [A], result: DYN, call: (value: Value) => value }] },
  {
    name: 'bool',
    overloads: [same(BOOL, 'bool_to_bool'), overload('string_to_bool', STRING, BOOL, parsed(BOOL, parseBool))],
  },
  {
    name: 'bytes',
    overloads: [
      same(BYTES, 'bytes_to_bytes'),
      overload('string_to_bytes', STRING, BYTES, (text: string) => new Uint8Array(Buffer.from(text, 'utf8'))),
    ],
  },
  {
    name: 'double',
    overloads: [
      same(DOUBLE, 'double_to_double'),
      overload('int64_to_double', INT, DOUBLE, Number),
      overload('string_to_double', STRING, DOUBLE, parseDouble),
      overload('uint64_to_double', UINT, DOUBLE, (value: Uint) => Number(value.value)),
    ],
  },
  {
    name: 'duration',
    overloads: [
      same(DURATION, 'duration_to_duration'),
      overload('int64_to_duration', INT, DURATION, () => failed(INT, DURATION)),
      overload('string_to_duration', STRING, DURATION, parseDuration),
    ],
  },
  {
    name: 'int',
    overloads: [
      same(INT, 'int64_to_int64'),
      overload('double_to_int64', DOUBLE, INT, doubleToInt),
      overload('duration_to_int64', DURATION, INT, (value: Duration) => value.nanos),
      overload('string_to_int64', STRING, INT, (text: string) => parseInteger(text, INT)),
      overload('timestamp_to_int64', TIMESTAMP, INT, (value: Timestamp) => BigInt(value.seconds)),
      overload('uint64_to_int64', UINT, INT, (value: Uint) => int(value.value)),
    ],
  },
  {
    name: 'string',
    overloads: [
      same(STRING, 'string_to_string'),
      overload('bool_to_string', BOOL, STRING, String),
      overload('bytes_to_string', BYTES, STRING, decodeText),
      overload('double_to_string', DOUBLE, STRING, formatGeneral),
      overload('duration_to_string', DURATION, STRING, formatDuration),
      overload('int64_to_string', INT, STRING, String),
      overload('timestamp_to_string', TIMESTAMP, STRING, formatTimestamp),
      overload('uint64_to_string', UINT, STRING, (value: Uint) => String(value.value)),
    ],
  },
  {
    name: 'timestamp',
    overloads: [
      same(TIMESTAMP, 'timestamp_to_timestamp'),
      overload('int64_to_timestamp', INT, TIMESTAMP, secondsToTimestamp),
      overload('string_to_timestamp', STRING, TIMESTAMP, parseTimestamp),
    ],
  },
  {
    name: 'uint',
    overloads: [
      same(UINT, 'uint64_to_uint64'),
      overload('double_to_uint64', DOUBLE, UINT, doubleToUint),
      overload('int64_to_uint64', INT, UINT, uint),
      overload('string_to_uint64', STRING, UINT, (text: string) => parseInteger(text, UINT)),
    ],
  },
];
