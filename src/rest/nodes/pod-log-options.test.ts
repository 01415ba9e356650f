import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StatusError } from '../../machinery/status.js';
import { checkLogOptions, readLogOptions } from './pod-log-options.js';

const read = (query: string) => readLogOptions(new URLSearchParams(query));
const fault = (act: () => unknown): string => {
  try {
    act();
  } catch (error) {
    if (error instanceof StatusError) return error.message;
    throw error;
  }
  return '';
};

test('numbers are as exact as they are written', () => {
  assert.equal(read('tailLines=9223372036854775807').tailLines, 9223372036854775807n);
  assert.match(
    fault(() => read('tailLines=9223372036854775808')),
    /value out of range/,
  );
});

test('a point in time without a value is the beginning of time', () => {
  assert.equal(read('sinceTime=').sinceTime, '0001-01-01T00:00:00Z');
  assert.equal(read('sinceTime=null').sinceTime, '0001-01-01T00:00:00Z');
  assert.equal(read('').sinceTime, undefined);
  assert.equal(read('sinceTime=2024-01-02T03:04:05-07:00').sinceTime, '2024-01-02T10:04:05Z');
});

test('of several mistakes the first option’s is reported', () => {
  assert.match(
    fault(() => read('tailLines=b&sinceSeconds=a')),
    /parsing "a"/,
  );
});

test('what cannot be is refused, all of it at once', () => {
  const features = { enabled: () => true } as unknown as Parameters<typeof checkLogOptions>[2];
  const text = fault(() =>
    checkLogOptions(read('tailLines=-5&limitBytes=0&sinceSeconds=0&stream=Both'), 'p', features),
  );
  for (const part of ['tailLines: Invalid value: -5', 'limitBytes', 'sinceSeconds', 'stream: Unsupported value'])
    assert.ok(text.includes(part), `${part} in ${text}`);
});
