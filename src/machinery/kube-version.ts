import { goQuote } from '../lib/go/quote.js';

/** A release line such as 1.33. */
export interface MinorVersion {
  readonly major: number;
  readonly minor: number;
}

export const minorVersionText = (version: MinorVersion): string => `${version.major}.${version.minor}`;

/** Negative when `a` is older than `b`. */
export const compareMinorVersions = (a: MinorVersion, b: MinorVersion): number =>
  a.major === b.major ? a.minor - b.minor : a.major - b.major;

export type VersionParse =
  | { readonly ok: true; readonly version: MinorVersion; readonly patch: number }
  | { readonly ok: false; readonly error: string };

const SHAPE = /^\s*v?([0-9]+(?:\.[0-9]+)*)/;

/** Reads `1.33`, `v1.33` or `1.33.0`; what follows the numbers is ignored. */
export function parseVersion(text: string): VersionParse {
  const numbers = SHAPE.exec(text)?.[1];
  if (numbers === undefined) return { ok: false, error: `could not parse ${goQuote(text)} as version` };
  const parts = numbers.split('.');
  const [first = ''] = parts;
  if (parts.length < 2) return { ok: false, error: `illegal version string ${goQuote(text)}` };
  if (first !== '0' && first.startsWith('0')) {
    return { ok: false, error: `illegal zero-prefixed version component "${first}" in ${goQuote(text)}` };
  }
  const [major = 0, minor = 0, patch = 0] = parts.map(Number);
  return { ok: true, version: { major, minor }, patch };
}
