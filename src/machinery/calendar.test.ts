import assert from 'node:assert/strict';
import test from 'node:test';
import { daysIn, daysSince1970, dayText } from './calendar.js';

/** Days since 1970. */
const YEAR_0 = Date.parse('0000-01-01T00:00:00Z') / 86_400_000;
const YEAR_9999_END = Date.parse('9999-12-31T00:00:00Z') / 86_400_000;

test('every date is the day that it is, and back', () => {
  let day = YEAR_0;
  // Four centuries come again and again: all of two, and some of the others.
  for (; day < YEAR_0 + 300_000; day++) check(day);
  for (; day <= YEAR_9999_END; day += 61) check(day);
});

function check(day: number): void {
  const date = new Date(day * 86_400_000);
  const [year, month, ofMonth] = [date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate()];
  assert.equal(dayText(day), date.toISOString().slice(0, 10));
  assert.equal(daysSince1970(year, month, ofMonth), day);
}

test('a month has the days that it has', () => {
  for (let year = 1896; year < 2104; year++)
    for (let month = 1; month <= 12; month++)
      assert.equal(daysIn(month, year), new Date(Date.UTC(year, month, 0)).getUTCDate(), `${year}-${month}`);
  assert.equal(daysIn(0, 2000), 0);
  assert.equal(daysIn(13, 2000), 0);
});

test('years beyond four digits are written as Go writes them', () => {
  assert.equal(dayText(YEAR_9999_END + 1), '10000-01-01');
  assert.equal(dayText(YEAR_0 - 1), '-0001-12-31');
});
