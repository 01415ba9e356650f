// Semantic versions (semver.org, version 2), with the words of the library kube-apiserver reads them with.
import { goQuote } from '../../lib/go/quote.js';

export interface SemanticVersion {
  readonly major: bigint;
  readonly minor: bigint;
  readonly patch: bigint;
  readonly prerelease: readonly (string | bigint)[];
  readonly build: readonly string[];
}

export class VersionError extends Error {}

const LARGEST = 2n ** 64n - 1n;

export function parseVersion(text: string): SemanticVersion {
  if (text === '') throw new VersionError('Version string empty');
  const [major, minor, last] = splitParts(text);
  if (major === undefined || minor === undefined || last === undefined) {
    throw new VersionError('No Major.Minor.Patch elements found');
  }
  const majorNumber = number(major, 'major', 'Major number');
  const minorNumber = number(minor, 'minor', 'Minor number');
  const [beforeBuild, build] = cut(last, '+');
  const [patch, prerelease] = cut(beforeBuild, '-');
  const version = {
    major: majorNumber,
    minor: minorNumber,
    patch: number(patch, 'patch', 'Patch number'),
    prerelease: prerelease?.split('.').map(prereleasePart) ?? [],
    build: build?.split('.') ?? [],
  };
  for (const part of version.build) {
    if (part === '') throw new VersionError('Build meta data is empty');
    if (!/^[0-9A-Za-z-]+$/.test(part)) {
      throw new VersionError(`Invalid character(s) found in build meta data ${goQuote(part)}`);
    }
  }
  return version;
}

/** Reads `v1`, `1.2` and `01.2.3` too: without the mark, with zeros for what is missing, without leading zeros. */
export function parseLooseVersion(text: string): SemanticVersion {
  const parts = splitParts(text.startsWith('v') ? text.slice(1) : text).map(withoutLeadingZeros);
  if (parts.length < 3 && /[+-]/.test(parts.at(-1) ?? '')) {
    throw new VersionError('short version cannot contain PreRelease/Build meta data');
  }
  while (parts.length < 3) parts.push('0');
  return parseVersion(parts.join('.'));
}

function withoutLeadingZeros(part: string): string {
  if (part.length < 2) return part;
  const trimmed = part.replace(/^0+/, '');
  return /^[0-9]/.test(trimmed) ? trimmed : `0${trimmed}`;
}

export function versionText({ major, minor, patch, prerelease, build }: SemanticVersion): string {
  const after = (mark: string, parts: readonly unknown[]): string => (parts.length > 0 ? mark + parts.join('.') : '');
  return `${major}.${minor}.${patch}${after('-', prerelease)}${after('+', build)}`;
}

export function compareVersions(left: SemanticVersion, right: SemanticVersion): -1 | 0 | 1 {
  for (const part of ['major', 'minor', 'patch'] as const) {
    if (left[part] !== right[part]) return left[part] < right[part] ? -1 : 1;
  }
  const [a, b] = [left.prerelease, right.prerelease];
  if (a.length === 0 || b.length === 0) return a.length === b.length ? 0 : a.length === 0 ? 1 : -1;
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const compared = comparePrerelease(a[i] ?? '', b[i] ?? '');
    if (compared !== 0) return compared;
  }
  return a.length === b.length ? 0 : a.length < b.length ? -1 : 1;
}

/** Numbers come before words. */
function comparePrerelease(a: string | bigint, b: string | bigint): -1 | 0 | 1 {
  if (typeof a !== typeof b) return typeof a === 'bigint' ? -1 : 1;
  return a === b ? 0 : a < b ? -1 : 1;
}

/** At most three parts: the last keeps its dots. */
function splitParts(text: string): string[] {
  const [major = '', ...more] = text.split('.');
  const [minor, ...last] = more;
  if (minor === undefined) return [major];
  return last.length === 0 ? [major, minor] : [major, minor, last.join('.')];
}

function number(text: string, name: string, title: string): bigint {
  if (!/^[0-9]*$/.test(text)) throw new VersionError(`Invalid character(s) found in ${name} number ${goQuote(text)}`);
  if (hasLeadingZero(text)) throw new VersionError(`${title} must not contain leading zeroes ${goQuote(text)}`);
  return unsigned(text);
}

function prereleasePart(text: string): string | bigint {
  if (text === '') throw new VersionError('Prerelease is empty');
  if (/^[0-9]+$/.test(text)) {
    if (hasLeadingZero(text)) {
      throw new VersionError(`Numeric PreRelease version must not contain leading zeroes ${goQuote(text)}`);
    }
    return unsigned(text);
  }
  if (!/^[0-9A-Za-z-]+$/.test(text)) {
    throw new VersionError(`Invalid character(s) found in prerelease ${goQuote(text)}`);
  }
  return text;
}

const hasLeadingZero = (text: string): boolean => text.length > 1 && text.startsWith('0');

function unsigned(text: string): bigint {
  const parsing = `strconv.ParseUint: parsing ${goQuote(text)}`;
  if (text === '') throw new VersionError(`${parsing}: invalid syntax`);
  const value = BigInt(text);
  if (value > LARGEST) throw new VersionError(`${parsing}: value out of range`);
  return value;
}

function cut(text: string, separator: string): [string, string | undefined] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}
