import assert from 'node:assert/strict';
import test from 'node:test';
import { canonicalDuration, canonicalMicroTime, canonicalTime, parseDuration, parseTime, timeOf } from './time.js';

test('times are formatted in UTC to the second', () => {
  assert.equal(canonicalTime('2024-02-29T23:59:59Z'), '2024-02-29T23:59:59Z');
  assert.equal(canonicalTime('2024-01-01T00:30:00.999+01:00'), '2023-12-31T23:30:00Z');
  assert.equal(canonicalTime('1969-12-31T23:59:59Z'), '1969-12-31T23:59:59Z');
  assert.equal(canonicalTime('0001-01-01T00:00:00Z'), null);
  assert.equal(canonicalMicroTime('2024-01-01T00:00:00.123456+00:00'), '2024-01-01T00:00:00.123456Z');
  assert.equal(canonicalMicroTime('2024-01-01T00:00:00,000456Z'), '2024-01-01T00:00:00.000456Z');
  assert.equal(canonicalMicroTime('0001-01-01T00:00:00.000000Z'), null);
  assert.equal(canonicalMicroTime('0001-01-01T00:00:00.000001Z'), '0001-01-01T00:00:00.000001Z');
});

test('a year beyond four digits is written as Go writes it', () => {
  assert.equal(canonicalTime('9999-12-31T23:59:59-01:00'), '10000-01-01T00:59:59Z');
  assert.equal(canonicalTime('0000-01-01T00:00:00+01:00'), '-0001-12-31T23:00:00Z');
});

test('a fraction has as many digits as one writes, of which nine count', () => {
  const nanosOf = (fraction: string): number => parseTime(`2024-01-01T00:00:00${fraction}+05:30`).nanos;
  assert.equal(nanosOf(''), 0);
  assert.equal(nanosOf('.5'), 500_000_000);
  assert.equal(nanosOf(',0000000019'), 1);
  assert.equal(parseTime('2024-01-01T00:00:00-05:30').seconds, Date.parse('2024-01-01T05:30:00Z') / 1000);
});

test('what is no time is refused', () => {
  for (const text of [
    '',
    '2024-01-01',
    '2024-02-30T00:00:00Z',
    '2024-01-01T24:00:00Z',
    '2024-01-01t00:00:00z',
    '202x-01-01T00:00:00Z',
    '2024-13-01T00:00:00Z',
    '2024-00-01T00:00:00Z',
    '2023-02-29T00:00:00Z',
    '2024-01-01T00:60:00Z',
    '2024-01-01T00:00:60Z',
    '2024-01-01T00:00:00.Z',
    '2024-01-01T00:00:00',
    '2024-01-01T00:00:00ZZ',
    '2024-01-01T00:00:00+0100',
    '2024-01-01T00:00:00+25:00',
    '2024-01-01T00:00:00+01:60',
    '2024-01-01T00:00:00+01:000',
    '2024-01-01 00:00:00Z',
  ]) {
    assert.throws(() => canonicalTime(text), /parsing time/, text);
  }
  for (const text of ['2024-01-01T00:00:00Z', '2024-01-01T00:00:00.12345Z', '2024-01-01T00:00:00.1234567Z'])
    assert.throws(() => canonicalMicroTime(text), /parsing time/, text);
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
