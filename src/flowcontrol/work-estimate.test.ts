import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RequestInfo } from '../machinery/request-info.js';
import { estimateWork, type ListQuery } from './work-estimate.js';

const LIST = { isResourceRequest: true, verb: 'list', name: '' } as RequestInfo;
const PLAIN: ListQuery = {
  limit: 0,
  resourceVersion: '',
  resourceVersionMatch: '',
  continueToken: '',
  selected: false,
  sendInitialEvents: false,
};

const seats = (query: Partial<ListQuery> | undefined): number =>
  estimateWork(LIST, 0, () => query && { ...PLAIN, ...query }, {
    stored: () => ({ objects: 40, averageBytes: 50_000 }),
    sizeBased: true,
    watches: () => 0,
    observeWatches: () => undefined,
  }).initialSeats;

test('a list from memory holds a megabyte at most, one from the store all of it', () => {
  for (const fromMemory of [
    {},
    { resourceVersion: '0', limit: 100 },
    { resourceVersion: '7' },
    { resourceVersion: '7', limit: 100, resourceVersionMatch: 'NotOlderThan' },
    { continueToken: 'x', resourceVersionMatch: 'NotOlderThan' },
  ]) {
    assert.equal(seats(fromMemory), 10, JSON.stringify(fromMemory));
  }
  for (const fromStore of [
    { resourceVersion: '7', limit: 100 },
    { resourceVersion: '7', resourceVersionMatch: 'Exact' },
    { resourceVersionMatch: 'Exact' },
    { resourceVersionMatch: 'Other' },
    { continueToken: 'x' },
  ]) {
    assert.equal(seats(fromStore), 20, JSON.stringify(fromStore));
  }
});

test('a list that cannot be parsed costs the maximum', () => {
  assert.equal(seats(undefined), 100);
});
