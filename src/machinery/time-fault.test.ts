import assert from 'node:assert/strict';
import { test } from 'node:test';
import { canonicalMicroTime, canonicalTime } from './time.js';

const LAYOUT = '"2006-01-02T15:04:05Z07:00"';

const refused: readonly (readonly [text: string, why: string])[] = [
  ['', `"" as ${LAYOUT}: cannot parse "" as "2006"`],
  ['soon', `"soon" as ${LAYOUT}: cannot parse "soon" as "2006"`],
  ['ü "\\', `"\\xc3\\xbc \\"\\\\" as ${LAYOUT}: cannot parse "\\xc3\\xbc \\"\\\\" as "2006"`],
  ['2026', `"2026" as ${LAYOUT}: cannot parse "" as "-"`],
  ['2026-1-02', `"2026-1-02" as ${LAYOUT}: cannot parse "1-02" as "01"`],
  ['2026-13-02T00:00:00Z', '"2026-13-02T00:00:00Z": month out of range'],
  ['2026-00-02T00:00:00Z', '"2026-00-02T00:00:00Z": month out of range'],
  ['2026-02-30T00:00:00Z', '"2026-02-30T00:00:00Z": day out of range'],
  ['2026-02-03 00:00:00Z', `"2026-02-03 00:00:00Z" as ${LAYOUT}: cannot parse " 00:00:00Z" as "T"`],
  ['2026-02-03T24:00:00Z', '"2026-02-03T24:00:00Z": hour out of range'],
  ['2026-02-03T23:60:00Z', '"2026-02-03T23:60:00Z": minute out of range'],
  ['2026-02-03T23:00:60Z', '"2026-02-03T23:00:60Z": second out of range'],
  ['2026-02-03T23:00:00', `"2026-02-03T23:00:00" as ${LAYOUT}: cannot parse "" as "Z07:00"`],
  ['2026-02-03T23:00:00+0100', `"2026-02-03T23:00:00+0100" as ${LAYOUT}: cannot parse "+0100" as "Z07:00"`],
  ['2026-02-03T23:00:00+25:00', '"2026-02-03T23:00:00+25:00": time zone offset hour out of range'],
  ['2026-02-03T23:00:00.5Zx', '"2026-02-03T23:00:00.5Zx": extra text: "x"'],
];

test('the error of a malformed time names where parsing stops', () => {
  for (const [text, why] of refused) {
    assert.throws(() => canonicalTime(text), { message: `parsing time ${why}` }, text);
  }
});

test('a time to the microsecond has six digits after its seconds', () => {
  const layout = '"2006-01-02T15:04:05.000000Z07:00"';
  for (const [text, rest] of [
    ['2026-02-03T23:00:00Z', 'Z'],
    ['2026-02-03T23:00:00.123Z', '.123Z'],
  ]) {
    const message = `parsing time "${text}" as ${layout}: cannot parse "${rest}" as ".000000"`;
    assert.throws(() => canonicalMicroTime(text ?? ''), { message });
  }
  assert.equal(canonicalMicroTime('2026-02-03T23:00:00.123456Z'), '2026-02-03T23:00:00.123456Z');
});
