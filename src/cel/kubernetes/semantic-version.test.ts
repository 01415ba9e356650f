import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareVersions, parseLooseVersion, parseVersion } from './semantic-version.js';

test('versions are ordered by their parts, and what comes before a release is less than it', () => {
  const ordered = ['0.9.9', '1.0.0-alpha', '1.0.0-alpha.1', '1.0.0-alpha.beta', '1.0.0-2', '1.0.0', '1.10.0'];
  const sorted = ordered.toReversed().toSorted((a, b) => compareVersions(parseVersion(a), parseVersion(b)));
  assert.deepEqual(sorted, ['0.9.9', '1.0.0-2', '1.0.0-alpha', '1.0.0-alpha.1', '1.0.0-alpha.beta', '1.0.0', '1.10.0']);
  assert.equal(compareVersions(parseVersion('1.0.0+a'), parseVersion('1.0.0+b')), 0);
});

test('what is no version says why', () => {
  assert.throws(() => parseVersion('1.2'), /No Major\.Minor\.Patch elements found/);
  assert.throws(() => parseVersion('01.2.3'), /Major number must not contain leading zeroes "01"/);
  assert.throws(() => parseVersion('1.2.x'), /Invalid character\(s\) found in patch number "x"/);
  assert.throws(() => parseVersion('1.2.3-'), /Prerelease is empty/);
});

test('loosely written versions are made whole', () => {
  const text = (version: string): string => {
    const { major, minor, patch } = parseLooseVersion(version);
    return `${major}.${minor}.${patch}`;
  };
  assert.equal(text('v1'), '1.0.0');
  assert.equal(text('01.02'), '1.2.0');
  assert.equal(text('v1.00.3'), '1.0.3');
  assert.throws(() => parseLooseVersion('1-rc'), /short version cannot contain PreRelease/);
});
