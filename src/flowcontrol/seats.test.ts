import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { DemandMeter, divide, NO_DEMAND, rebalance, seatBounds, smoothedDemand, sumOfDemand } from './seats.js';

const DEFAULTS = {
  'catch-all': [5, 0],
  exempt: [0, 0],
  'global-default': [20, 50],
  'leader-election': [10, 0],
  'node-high': [40, 25],
  system: [30, 33],
  'workload-high': [40, 50],
  'workload-low': [100, 90],
} as const;

test('seats go by shares, rounded up; what may be lent is kept back, what may be borrowed is on top', () => {
  const bounds = Object.fromEntries(
    Object.entries(DEFAULTS).map(([name, [shares, lendablePercent]]) => {
      const { nominal, lower, upper } = seatBounds(
        { shares, lendablePercent, borrowingLimitPercent: undefined },
        600,
        245,
      );
      return [name, [nominal, lower, upper]];
    }),
  );
  assert.deepEqual(bounds, {
    'catch-all': [13, 13, 613],
    exempt: [0, 0, 600],
    'global-default': [49, 24, 649],
    'leader-election': [25, 25, 625],
    'node-high': [98, 73, 698],
    system: [74, 50, 674],
    'workload-high': [98, 49, 698],
    'workload-low': [245, 24, 845],
  });
});

test('a sum is divided by the same fraction of each target, within bounds', () => {
  const share = fc
    .record({
      least: fc.double({ min: 0, max: 100, noNaN: true }),
      room: fc.double({ min: 0, max: 1000, noNaN: true }),
      more: fc.double({ min: 0, max: 500, noNaN: true }),
    })
    .map(({ least, room, more }) => ({ least, most: least + room, target: least + more }));
  fc.assert(
    fc.property(
      fc.array(share, { minLength: 1, maxLength: 12 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (shares, part) => {
        const least = shares.reduce((sum, s) => sum + s.least, 0);
        const most = shares.reduce((sum, s) => sum + s.most, 0);
        const sum = least + (most - least) * part;
        const { parts, fraction } = divide(sum, shares);
        assert.ok(Math.abs(parts.reduce((a, b) => a + b, 0) - sum) < 1e-6 * Math.max(1, sum));
        shares.forEach(({ least: low, most: high, target }, i) => {
          const got = parts[i] ?? NaN;
          assert.ok(got >= low - 1e-9 && got <= high + 1e-9);
          const fair = fraction * Math.max(target, 0.001);
          assert.ok(Math.abs(got - Math.max(low, Math.min(high, fair))) < 1e-6);
        });
      },
    ),
  );
});

test('a busy level borrows what others do not need, and no more than it may', () => {
  const level = (name: string, high: number, borrow: number) => ({
    name,
    exempt: false,
    bounds: { nominal: 30, lower: 10, upper: 30 + borrow },
    demand: { ...NO_DEMAND, high, smoothed: high },
  });
  const { seats } = rebalance([level('busy', 200, 40), level('modest', 200, 0), level('idle', 0, 60)], 90);
  assert.ok((seats.get('busy') ?? 0) > 30);
  assert.equal(seats.get('modest'), 30);
  assert.equal(
    [...seats.values()].reduce((a, b) => a + b, 0),
    90,
  );
});

test('demand rises at once and falls slowly', () => {
  const meter = new DemandMeter(0);
  meter.set(10, 0);
  let demand = smoothedDemand(NO_DEMAND, meter.take(10_000));
  assert.deepEqual([demand.high, demand.average, demand.smoothed], [10, 10, 10]);
  meter.set(0, 10_000);
  demand = smoothedDemand(demand, meter.take(20_000));
  assert.equal(demand.average, 0);
  assert.ok(demand.smoothed > 9.7 && demand.smoothed < 10);
});

test('what several processes saw is added up', () => {
  const seen = [
    { seconds: 10, max: 4, average: 2, deviation: 3 },
    { seconds: 9, max: 6, average: 1, deviation: 4 },
  ];
  assert.deepEqual(sumOfDemand(seen), { seconds: 10, max: 10, average: 3, deviation: 5 });
  assert.deepEqual(sumOfDemand([]), { seconds: 0, max: 0, average: 0, deviation: 0 });
});
