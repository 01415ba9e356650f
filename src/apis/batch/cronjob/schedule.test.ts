import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scheduleError } from './schedule.js';

test('schedules people write are accepted', () => {
  for (const schedule of [
    '*/5 * * * *',
    '0 0 1,15 jan-mar mon',
    '@daily',
    '@every 1h30m',
    '59 23 31 12 6',
    '? * * * 0',
  ]) {
    assert.equal(scheduleError(schedule), undefined, schedule);
  }
});

test('errors have the words of the cron library', () => {
  const wrong: Record<string, string> = {
    '* * *': 'expected exactly 5 fields, found 3: [* * *]',
    '60 * * * *': 'end of range (60) above maximum (59): 60',
    '* * 0 * *': 'beginning of range (0) below minimum (1): 0',
    '5-1 * * * *': 'beginning of range (5) beyond end of range (1): 5-1',
    '*/0 * * * *': 'step of range should be a positive number: */0',
    '1-2-3 * * * *': 'too many hyphens: 1-2-3',
    'x * * * *': 'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax',
    '@never': 'unrecognized descriptor: @never',
  };
  for (const [schedule, words] of Object.entries(wrong)) assert.equal(scheduleError(schedule), words);
});
