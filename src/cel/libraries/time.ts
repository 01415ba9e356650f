// The parts of timestamps and durations.
import type { FunctionDeclaration, Overload } from '../library.js';
import type { Pace } from '../run/frame.js';
import type { DateParts } from '../run/time.js';
import { partsIn, secondsOf } from '../run/time.js';
import { DURATION, INT, STRING, TIMESTAMP } from '../type.js';
import type { Duration, Timestamp, Value } from '../value.js';
import { CelError } from '../value.js';

function ofTimestamp(id: string, part: (parts: DateParts) => number, zoneId = `${id}_with_tz`): readonly Overload[] {
  const inZone = (time: Timestamp, zone: string, pace?: Pace): Value => {
    // The first use of a zone costs half a millisecond.
    pace?.check();
    const parts = partsIn(time, zone);
    return parts instanceof CelError ? parts : BigInt(part(parts));
  };
  return [
    { id, member: true, parameters: [TIMESTAMP], result: INT, call: (time: Timestamp) => inZone(time, 'UTC') },
    { id: zoneId, member: true, parameters: [TIMESTAMP, STRING], result: INT, paced: true, call: inZone },
  ];
}

const ofDuration = (id: string, part: (nanos: bigint) => bigint): Overload => ({
  id,
  member: true,
  parameters: [DURATION],
  result: INT,
  call: ({ nanos }: Duration) => part(nanos),
});

export const TIME_FUNCTIONS: readonly FunctionDeclaration[] = [
  { name: 'getFullYear', overloads: ofTimestamp('timestamp_to_year', (p) => p.year) },
  { name: 'getMonth', overloads: ofTimestamp('timestamp_to_month', (p) => p.month) },
  { name: 'getDayOfYear', overloads: ofTimestamp('timestamp_to_day_of_year', (p) => p.dayOfYear) },
  { name: 'getDayOfMonth', overloads: ofTimestamp('timestamp_to_day_of_month', (p) => p.day - 1) },
  { name: 'getDate', overloads: ofTimestamp('timestamp_to_day_of_month_1_based', (p) => p.day) },
  { name: 'getDayOfWeek', overloads: ofTimestamp('timestamp_to_day_of_week', (p) => p.dayOfWeek) },
  {
    name: 'getHours',
    overloads: [
      ...ofTimestamp('timestamp_to_hours', (p) => p.hours),
      ofDuration('duration_to_hours', (nanos) => nanos / 3_600_000_000_000n),
    ],
  },
  {
    name: 'getMinutes',
    overloads: [
      ...ofTimestamp('timestamp_to_minutes', (p) => p.minutes),
      ofDuration('duration_to_minutes', (nanos) => nanos / 60_000_000_000n),
    ],
  },
  {
    name: 'getSeconds',
    overloads: [
      ...ofTimestamp('timestamp_to_seconds', (p) => p.seconds, 'timestamp_to_seconds_tz'),
      ofDuration('duration_to_seconds', (nanos) => BigInt(Math.trunc(secondsOf(nanos)))),
    ],
  },
  {
    name: 'getMilliseconds',
    overloads: [
      ...ofTimestamp('timestamp_to_milliseconds', (p) => p.milliseconds),
      ofDuration('duration_to_milliseconds', (nanos) => nanos / 1_000_000n),
    ],
  },
];
