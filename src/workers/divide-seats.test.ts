import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { divideSeats } from './divide-seats.js';

const sum = (seats: readonly number[]): number => seats.reduce((all, one) => all + one, 0);
const wanted = fc.array(fc.nat(100), { minLength: 1, maxLength: 16 });

test('each has what it wants and an even part of the rest', () => {
  assert.deepEqual(divideSeats(20, [4, 0]), [12, 8]);
  assert.deepEqual(divideSeats(20, [20, 0]), [20, 0]);
  assert.deepEqual(divideSeats(5, [0, 0, 0], 1), [1, 2, 2]);
});

test('too few are divided in proportion, with one for everybody who wants one', () => {
  assert.deepEqual(divideSeats(20, [30, 10]), [15, 5]);
  assert.deepEqual(divideSeats(20, [1000, 1, 0]), [19, 1, 0]);
});

test('fewer than there are workers go round', () => {
  const turns = [0, 1, 2].map((turn) => divideSeats(1, [5, 5, 5], turn));
  assert.deepEqual(turns, [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ]);
});

test('all seats are given out, none twice, and none to who does not want it while others do', () => {
  fc.assert(
    fc.property(fc.nat(200), wanted, fc.nat(100), (total, each, turn) => {
      const seats = divideSeats(total, each, turn);
      assert.equal(sum(seats), total);
      const isScarce = sum(each) > total;
      seats.forEach((own, i) => {
        const wants = each[i] ?? 0;
        if (isScarce) assert.ok(own <= wants, `${own} of ${wants}`);
        else assert.ok(own >= wants, `${own} of ${wants}`);
        if (wants > 0 && total >= each.length) assert.ok(own > 0);
      });
    }),
  );
});
