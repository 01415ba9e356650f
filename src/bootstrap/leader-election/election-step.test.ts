import { silentLog } from '../../lib/testing/test-log.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../../machinery/object.js';
import type { Lease, LeaseSpec } from '../../schema/generated/coordination.v1.js';
import type { LeaseCandidate } from '../../schema/generated/coordination.v1beta1.js';
import { fakeObjects, type FakeObjects } from '../testing.js';
import { electionStep } from './election-step.js';
import { oldestEmulation, strategyOf } from './election.js';
import { microTime } from './micro-time.js';

const NOW = Date.parse('2030-01-02T03:04:05Z');
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const OLDEST = 'OldestEmulationVersion';

interface Given {
  readonly emulation?: string;
  readonly binary?: string;
  readonly strategy?: string;
  readonly created?: string;
  /** How long ago. */
  readonly renewedMs?: number;
  readonly pingedMs?: number;
}

function candidate(name: string, overrides: Given = {}): LeaseCandidate {
  const { emulation = '1.34.0', binary = '1.34.0', strategy = OLDEST, renewedMs = 0, pingedMs } = overrides;
  return {
    metadata: { name, namespace: 'ns', creationTimestamp: overrides.created ?? '2030-01-01T00:00:00Z' },
    spec: {
      leaseName: 'work',
      binaryVersion: binary,
      emulationVersion: emulation,
      strategy,
      renewTime: microTime(NOW - renewedMs),
      ...(pingedMs !== undefined && { pingTime: microTime(NOW - pingedMs) }),
    },
  };
}

const lease = (spec: LeaseSpec): Lease => ({ metadata: { name: 'work', namespace: 'ns' }, spec });
const held = (holderIdentity: string, renewedMs = 0): LeaseSpec => ({
  holderIdentity,
  strategy: OLDEST,
  leaseDurationSeconds: 5,
  renewTime: microTime(NOW - renewedMs),
});

async function step(
  candidates: LeaseCandidate[],
  current?: Lease,
): Promise<{ again: boolean; objects: FakeObjects; spec: LeaseSpec | undefined; pinged: string[] }> {
  const all = [...candidates, ...(current === undefined ? [] : [current])] as KubeObject[];
  const objects = fakeObjects(...structuredClone(all));
  const parts = { client: objects.client, namespace: 'ns', name: 'work', nowMs: NOW, log: silentLog };
  const again = await electionStep({ ...parts, candidates, lease: current });
  const pinged = candidates
    .map(({ metadata }) => metadata.name ?? '')
    .filter((name) => (objects.object(name) as LeaseCandidate).spec.pingTime === microTime(NOW));
  return { again, objects, pinged, spec: (objects.object('work') as Lease | undefined)?.spec };
}

test('the candidate that behaves as the oldest release is best, then the older program, then the older candidate', () => {
  const best = (...candidates: LeaseCandidate[]): string | undefined => oldestEmulation(candidates)?.metadata.name;
  assert.equal(best(candidate('a'), candidate('b', { emulation: '1.33.0' })), 'b');
  assert.equal(best(candidate('a', { emulation: '1.9.0' }), candidate('b', { emulation: '1.10.0' })), 'a');
  assert.equal(best(candidate('a', { binary: '1.35.0' }), candidate('b', { binary: '1.34.1' })), 'b');
  assert.equal(best(candidate('a', { created: '2030-01-02T00:00:00Z' }), candidate('b')), 'b');
  assert.equal(best(candidate('a', { emulation: '' })), undefined);
});

test('the newest program decides on the strategy, and those of one version must agree', () => {
  assert.equal(strategyOf([candidate('a'), candidate('b', { binary: '1.35.0', strategy: 'x.io/y' })]), 'x.io/y');
  assert.throws(
    () => strategyOf([candidate('a'), candidate('b', { strategy: 'x.io/y' })]),
    /candidates "a", "b" at same binary version but received differing strategies OldestEmulationVersion, x.io\/y/,
  );
});

test('candidates that answered lately are elected from at once', async () => {
  const { again, spec, pinged } = await step([candidate('a'), candidate('b', { emulation: '1.33.0' })]);
  assert.deepEqual(pinged, []);
  assert.ok(again);
  assert.deepEqual(spec, {
    strategy: OLDEST,
    leaseDurationSeconds: 5,
    renewTime: microTime(NOW),
    holderIdentity: 'b',
  });
});

test('candidates that have been quiet are pinged first, and waited for', async () => {
  const quiet = await step([candidate('a', { renewedMs: MINUTE }), candidate('b')]);
  assert.deepEqual(quiet.pinged, ['a']);
  assert.equal(quiet.spec, undefined);
  const waiting = await step([candidate('a', { renewedMs: MINUTE, pingedMs: SECOND }), candidate('b')]);
  assert.deepEqual(waiting.pinged, []);
  assert.equal(waiting.spec, undefined);
  assert.ok(waiting.again);
});

test('a candidate that does not answer in time is skipped, and not pinged again', async () => {
  const silent = candidate('a', { emulation: '1.33.0', renewedMs: MINUTE, pingedMs: 6 * SECOND });
  const { spec, pinged } = await step([silent, candidate('b')]);
  assert.deepEqual(pinged, []);
  assert.equal(spec?.holderIdentity, 'b');
  const nobody = await step([silent]);
  assert.equal(nobody.spec, undefined);
  assert.equal(nobody.again, false);
});

test('candidates long gone count for nothing', async () => {
  const { again, spec } = await step([candidate('a', { renewedMs: 31 * MINUTE })]);
  assert.equal(again, false);
  assert.equal(spec, undefined);
});

test('a leader that is best is left alone, a better one is named as preferred, an expired lease changes hands', async () => {
  const [a, b] = [candidate('a'), candidate('b', { emulation: '1.33.0' })];
  assert.deepEqual((await step([a, b], lease(held('b')))).spec, held('b'));
  assert.deepEqual((await step([a, b], lease(held('a')))).spec, { ...held('a'), preferredHolder: 'b' });
  const expired = { ...held('a', 6 * SECOND), preferredHolder: 'b', acquireTime: microTime(NOW - MINUTE) };
  assert.deepEqual((await step([a, b], lease(expired))).spec, held('b'));
  assert.equal((await step([a], lease({ strategy: OLDEST }))).spec?.holderIdentity, 'a');
});

test('leases of other strategies are made without a holder, and then left to others', async () => {
  const other = candidate('a', { strategy: 'example.com/mine' });
  const made = await step([other]);
  assert.equal(made.spec?.strategy, 'example.com/mine');
  assert.equal(made.spec?.holderIdentity, undefined);
  const theirs = { ...held('somebody'), strategy: 'example.com/mine' };
  assert.deepEqual((await step([other], lease(theirs))).spec, theirs);
});
