/** `1.2.3-rc.1+build`: three numbers without leading zeros, then what comes before the release. */
export interface SemanticVersion {
  readonly numbers: readonly [bigint, bigint, bigint];
  readonly prerelease: readonly string[];
}

const NUMBER = '(0|[1-9]\\d*)';
const IDENTIFIERS = '[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*';
const pattern = new RegExp(`^${NUMBER}\\.${NUMBER}\\.${NUMBER}(?:-(${IDENTIFIERS}))?(?:\\+${IDENTIFIERS})?$`);
const numeric = /^\d+$/;
const MAX_UINT64 = 2n ** 64n - 1n;

export function parseSemanticVersion(text: string): SemanticVersion | undefined {
  const match = pattern.exec(text);
  if (match === null) return undefined;
  const [, major = '', minor = '', patch = '', before] = match;
  const numbers = [BigInt(major), BigInt(minor), BigInt(patch)] as const;
  const prerelease = before === undefined ? [] : before.split('.');
  const tooLarge = numbers.some((number) => number > MAX_UINT64);
  const leadingZero = prerelease.some((part) => numeric.test(part) && part.length > 1 && part.startsWith('0'));
  return tooLarge || leadingZero ? undefined : { numbers, prerelease };
}

export function compareSemanticVersions(a: SemanticVersion, b: SemanticVersion): number {
  for (const position of [0, 1, 2] as const) {
    if (a.numbers[position] !== b.numbers[position]) return a.numbers[position] < b.numbers[position] ? -1 : 1;
  }
  return comparePrereleases(a.prerelease, b.prerelease);
}

/** A release comes after everything that leads up to it. */
function comparePrereleases(a: readonly string[], b: readonly string[]): number {
  if (a.length === 0 || b.length === 0) return (a.length === 0 ? 1 : 0) - (b.length === 0 ? 1 : 0);
  for (const [position, left] of a.entries()) {
    const right = b[position];
    if (right === undefined) return 1;
    const order = compareParts(left, right);
    if (order !== 0) return order;
  }
  return a.length < b.length ? -1 : 0;
}

/** Numbers come before words, and compare as numbers. */
function compareParts(a: string, b: string): number {
  const [leftIsNumber, rightIsNumber] = [numeric.test(a), numeric.test(b)];
  if (leftIsNumber !== rightIsNumber) return leftIsNumber ? -1 : 1;
  const [left, right] = leftIsNumber ? [BigInt(a), BigInt(b)] : [a, b];
  return left < right ? -1 : left > right ? 1 : 0;
}
