/**
 * Divides the seats of a limit among processes by how many each wants. What nobody wants is divided evenly, so that the next
 * request finds a seat where it comes. Where there are too few, each gets the same part of what it wants, but one at least;
 * `turn` says with whom to begin where there are not even that many: whoever counts it up lets everybody have one in time.
 *
 *     20 seats, wanted 4, 0    →  12, 8
 *     20 seats, wanted 30, 10  →  15, 5
 */
export function divideSeats(total: number, wanted: readonly number[], turn = 0): number[] {
  const count = wanted.length;
  const sum = wanted.reduce((all, one) => all + one, 0);
  if (count === 0) return [];
  const first = turn % count;
  if (sum <= total) {
    const spare = total - sum;
    return wanted.map(
      (own, i) => own + Math.floor(spare / count) + ((i - first + count) % count < spare % count ? 1 : 0),
    );
  }
  const order = wanted.map((_, i) => (first + i) % count);
  const seats = wanted.map(() => 0);
  let left = total;
  for (const i of order) {
    if (left === 0 || (wanted[i] ?? 0) === 0) continue;
    seats[i] = 1;
    left--;
  }
  const wantMore = wanted.map((own, i) => own - (seats[i] ?? 0));
  const sumOfMore = wantMore.reduce((all, one) => all + one, 0);
  const parts = wantMore.map((more) => (left * more) / sumOfMore);
  parts.forEach((part, i) => (seats[i] = (seats[i] ?? 0) + Math.floor(part)));
  left -= parts.reduce((all, part) => all + Math.floor(part), 0);
  const byRest = [...order].sort((a, b) => fractionOf(parts[b]) - fractionOf(parts[a]));
  for (const i of byRest.slice(0, left)) seats[i] = (seats[i] ?? 0) + 1;
  return seats;
}

const fractionOf = (part = 0): number => part - Math.floor(part);
