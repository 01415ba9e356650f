// runs-on: every-node
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import protobuf from 'protobufjs';
import { cpuProfile } from './pprof-format.js';

// The parts of the published profile.proto that are written.
const SCHEMA = `syntax = "proto3";
message Profile {
  repeated ValueType sample_type = 1; repeated Sample sample = 2; repeated Location location = 4;
  repeated Function function = 5; repeated string string_table = 6; int64 time_nanos = 9; int64 duration_nanos = 10;
  ValueType period_type = 11; int64 period = 12;
}
message ValueType { int64 type = 1; int64 unit = 2; }
message Sample { repeated uint64 location_id = 1; repeated int64 value = 2; }
message Location { uint64 id = 1; repeated Line line = 4; }
message Line { uint64 function_id = 1; int64 line = 2; }
message Function { uint64 id = 1; int64 name = 2; int64 filename = 4; }`;

interface Decoded {
  sample: { locationId: number[]; value: number[] }[];
  location: { id: number; line: { functionId: number; line: number }[] }[];
  function: { id: number; name: number }[];
  stringTable: string[];
  period: number;
}

test('a CPU profile decodes with its stacks, innermost first, and leaves out idling', async () => {
  const frame = (functionName: string, lineNumber: number) => ({
    functionName,
    scriptId: '1',
    url: 'a.js',
    lineNumber,
    columnNumber: 0,
  });
  const bytes = await cpuProfile(
    {
      nodes: [
        { id: 1, callFrame: frame('(root)', -1), children: [2, 4] },
        { id: 2, callFrame: frame('outer', 9), children: [3] },
        { id: 3, callFrame: frame('inner', 19) },
        { id: 4, callFrame: frame('(idle)', -1) },
      ],
      startTime: 0,
      endTime: 4000,
      samples: [3, 3, 2, 4],
      timeDeltas: [0, 1000, 1500, 500],
    },
    1,
    1000,
  );
  const type = protobuf.parse(SCHEMA).root.lookupType('Profile');
  const decoded = type.toObject(type.decode(gunzipSync(bytes)), { longs: Number }) as Decoded;
  const nameOf = (location: number): string => {
    const line = decoded.location.find(({ id }) => id === location)?.line[0];
    const name = decoded.function.find(({ id }) => id === line?.functionId)?.name ?? 0;
    return `${decoded.stringTable[name]}:${line?.line}`;
  };
  assert.deepEqual(
    decoded.sample.map(({ locationId, value }) => [locationId.map(nameOf), value]),
    [
      [
        ['inner:20', 'outer:10'],
        [2, 2_500_000],
      ],
      [['outer:10'], [1, 500_000]],
    ],
  );
  assert.equal(decoded.stringTable[0], '');
  assert.equal(decoded.period, 1_000_000);
});
