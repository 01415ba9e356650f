import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DiscoveryOptions } from './discovery.js';
import type { Endpoint } from '../contract/endpoint.js';
import type { RegisteredGroup } from './registered-versions.js';
import { createGroups } from './served-groups.js';

const endpoint = (group: string, version: string, custom = false): Endpoint =>
  ({ kind: { group, version }, definition: { custom } }) as unknown as Endpoint;
const SERVED = [
  endpoint('', 'v1'),
  endpoint('autoscaling', 'v1'),
  endpoint('autoscaling', 'v2'),
  endpoint('batch', 'v1'),
  endpoint('apiregistration.k8s.io', 'v1'),
  endpoint('young.test', 'v1', true),
];
const listed = (groups: ReadonlyMap<string, RegisteredGroup> | undefined): unknown => {
  const registered = {
    generation: 1,
    groups: () => groups,
    remote: () => [],
    isListed: () => true,
    groupRank: () => undefined,
  };
  const options = { endpoints: () => SERVED, registered } as unknown as DiscoveryOptions;
  return [...createGroups(options)().listed()];
};
const group = (rank: number, versions: Record<string, number>, firstService = ''): RegisteredGroup => ({
  rank,
  firstService,
  versions: new Map(Object.entries(versions)),
});

test('the older documents list what is registered, in the order of its ranks, and what is about to be', () => {
  const registered = new Map([
    ['', group(18000, { v1: 1 })],
    ['autoscaling', group(10, { v2: 5 })],
    ['nobody.test', group(2000, { v1: 1, v2: 1, v1beta1: 9 })],
  ]);
  assert.deepEqual(listed(registered), [
    ['apiregistration.k8s.io', ['v1']],
    ['nobody.test', ['v1beta1', 'v2', 'v1']],
    ['young.test', ['v1']],
    ['autoscaling', ['v2']],
  ]);
});

test('the older documents order groups of one rank by the first of their services, version before group', () => {
  const registered = new Map([
    ['apiregistration.k8s.io', group(20000, { v1: 1 }, 'v1.apiregistration.k8s.io')],
    ['a.test', group(1000, { v1beta1: 100 }, 'v1beta1.a.test')],
    ['b.test', group(1000, { v1: 100, v2: 100 }, 'v1.b.test')],
    ['c.test', group(1000, { v1alpha1: 100 }, 'v1alpha1.c.test')],
    ['young.test', group(1000, { v1: 100 }, 'v1.young.test')],
  ]);
  const order = (listed(registered) as [string, unknown][]).map(([name]) => name);
  assert.deepEqual(order, ['apiregistration.k8s.io', 'b.test', 'young.test', 'c.test', 'a.test']);
});

test('until registrations are known, all that is served is listed', () => {
  assert.deepEqual(listed(undefined), [
    ['apiregistration.k8s.io', ['v1']],
    ['autoscaling', ['v2', 'v1']],
    ['batch', ['v1']],
    ['young.test', ['v1']],
  ]);
});
