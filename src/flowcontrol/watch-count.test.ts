import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RequestInfo } from '../machinery/request-info.js';
import { WatchCount } from './watch-count.js';

const of = (resource: string, namespace = '', name = '', apiGroup = ''): RequestInfo =>
  ({ apiGroup, resource, namespace, name }) as RequestInfo;

test('a write concerns the watches of its resource, of its namespace and of its object', () => {
  const watches = new WatchCount();
  const ends = [
    watches.add(of('pods'), false),
    watches.add(of('pods', 'a'), false),
    watches.add(of('pods', 'a'), false),
    watches.add(of('pods', 'a', 'x'), false),
    watches.add(of('pods', '', 'x'), false),
    watches.add(of('pods', '', '', 'metrics.k8s.io'), false),
    watches.add(of('nodes', '', 'x'), false),
    watches.add(of('pods'), true),
  ];
  assert.equal(watches.concernedBy(of('pods', 'a', 'x')), 4);
  assert.equal(watches.concernedBy(of('pods', 'a', 'y')), 3);
  assert.equal(watches.concernedBy(of('pods', 'a')), 3);
  assert.equal(watches.concernedBy(of('pods', 'b', 'x')), 1);
  assert.equal(watches.concernedBy(of('pods', '', 'x')), 2);
  assert.equal(watches.concernedBy(of('pods', 'a', 'x', 'metrics.k8s.io')), 1);
  assert.equal(watches.concernedBy(of('nodes', '', 'x')), 1);
  assert.equal(watches.concernedBy(of('nodes')), 0);
  assert.equal(watches.concernedBy(of('services', 'a', 'x')), 0);
  for (const end of ends) end();
  assert.equal(watches.concernedBy(of('pods', 'a', 'x')), 0);
});

test('what is watched again counts again', () => {
  const watches = new WatchCount();
  const [first, second] = [watches.add(of('pods', 'a', 'x'), false), watches.add(of('pods', 'a', 'x'), false)];
  first();
  assert.equal(watches.concernedBy(of('pods', 'a', 'x')), 1);
  second();
  const third = watches.add(of('pods', 'a', 'x'), false);
  assert.equal(watches.concernedBy(of('pods', 'a', 'x')), 1);
  third();
  assert.equal(watches.concernedBy(of('pods', 'a', 'x')), 0);
});
