import assert from 'node:assert/strict';
import test from 'node:test';
import { canonicalDuration, canonicalMicroTime, canonicalTime, parseDuration, timeOf } from './time.js';

test('times are formatted in UTC to the second', () => {
  assert.equal(canonicalTime('2024-02-29T23:59:59Z'), '2024-02-29T23:59:59Z');
  assert.equal(canonicalTime('2024-01-01T00:30:00.999+01:00'), '2023-12-31T23:30:00Z');
  assert.equal(canonicalTime('1969-12-31T23:59:59Z'), '1969-12-31T23:59:59Z');
  assert.equal(canonicalTime('0001-01-01T00:00:00Z'), null);
  assert.equal(canonicalMicroTime('2024-01-01T00:00:00.123456+00:00'), '2024-01-01T00:00:00.123456Z');
});

test('what is no time is refused', () => {
  for (const text of [
    '',
    '2024-01-01',
    '2024-02-30T00:00:00Z',
    '2024-01-01T24:00:00Z',
    '2024-01-01t00:00:00z',
    '2024-13-01T00:00:00Z',
  ]) {
    assert.throws(() => canonicalTime(text), /parsing time/, text);
  }
  assert.throws(() => canonicalMicroTime('2024-01-01T00:00:00Z'), /parsing time/);
});

test('an hour may have one digit', () => {
  assert.equal(canonicalTime('2024-01-01T1:02:03Z'), '2024-01-01T01:02:03Z');
  assert.equal(canonicalMicroTime('2024-01-01T1:02:03.000001Z'), '2024-01-01T01:02:03.000001Z');
});

test('dates become texts', () => {
  const date = new Date(1_700_000_000_123);
  assert.equal(timeOf(date), '2023-11-14T22:13:20Z');
});

test('durations are formatted as Go formats them', () => {
  const cases: [string, string][] = [
    ['90m', '1h30m0s'],
    ['1.5s', '1.5s'],
    ['20ms', '20ms'],
    ['1500us', '1.5ms'],
    ['0', '0s'],
    ['-1m', '-1m0s'],
    ['1h0.5s', '1h0m0.5s'],
  ];
  for (const [text, formatted] of cases) assert.equal(canonicalDuration(text), formatted);
  assert.throws(() => canonicalDuration('5'), /missing unit in duration "5"/);
  assert.throws(() => canonicalDuration('5x'), /unknown unit "x"/);
  assert.throws(() => canonicalDuration(''), /invalid duration ""/);
});

test('what is no duration is quoted byte by byte', () => {
  assert.throws(() => parseDuration('\u00e9"\n'), { message: 'time: invalid duration "\\xc3\\xa9\\"\\x0a"' });
});
