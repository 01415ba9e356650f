import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareSemanticVersions, parseSemanticVersion } from './semantic-version.js';

const order = (a: string, b: string): number => {
  const [left, right] = [parseSemanticVersion(a), parseSemanticVersion(b)];
  assert.ok(left !== undefined && right !== undefined);
  return compareSemanticVersions(left, right);
};

test('versions need three numbers without leading zeros', () => {
  for (const text of ['1.2', 'v1.2.3', '1.02.3', '1.2.3-', '1.2.3-01', '']) {
    assert.equal(parseSemanticVersion(text), undefined, text);
  }
  assert.ok(parseSemanticVersion('1.2.3-rc.1+build.5') !== undefined);
});

test('a release comes after its candidates, which compare number by number', () => {
  assert.equal(order('1.2.3', '1.2.3-rc.1'), 1);
  assert.equal(order('1.2.3-rc.2', '1.2.3-rc.10'), -1);
  assert.equal(order('1.2.3-1', '1.2.3-rc'), -1);
  assert.equal(order('1.2.3-rc', '1.2.3-rc.1'), -1);
  assert.equal(order('1.10.0', '1.9.9'), 1);
  assert.equal(order('1.2.3+a', '1.2.3+b'), 0);
});
