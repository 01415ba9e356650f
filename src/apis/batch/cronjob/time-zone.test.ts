import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isKnownTimeZone } from './time-zone.js';

test('time zones are known by the names of the tz database alone', () => {
  const known = ['UTC', 'Etc/UTC', 'Etc/GMT+5', 'America/Port-au-Prince', 'Africa/Dar_es_Salaam', 'Antarctica/McMurdo'];
  for (const name of [...known, 'America/Knox_IN', 'Australia/NSW', 'US/East-Indiana', 'EST5EDT', 'W-SU']) {
    assert.ok(isKnownTimeZone(name), name);
  }
  for (const name of ['ETC/UTC', 'Etc/Utc', 'europe/berlin', 'Europe/BERLIN', 'utc', 'JST', 'PST', 'US/Pacific-New']) {
    assert.ok(!isKnownTimeZone(name), name);
  }
  for (const name of ['SystemV/AST4', 'Europe/Nowhere', '+01:00', 'Europe']) assert.ok(!isKnownTimeZone(name), name);
});
