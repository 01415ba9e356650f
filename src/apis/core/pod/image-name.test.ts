import assert from 'node:assert/strict';
import { test } from 'node:test';
import { meansLatestImage } from './image-name.js';

test('a name that is too long for a repository means no image', () => {
  const name = 'x'.repeat(255);
  assert.equal(meansLatestImage(`example.test/${name}`), true);
  assert.equal(meansLatestImage(`example.test/${name}x`), false);
  // Those without a folder are in the library's.
  assert.equal(meansLatestImage(name.slice('library/'.length)), true);
  assert.equal(meansLatestImage(`docker.io/${name.slice('library/'.length)}`), true);
  assert.equal(meansLatestImage(name.slice('library/'.length - 1)), false);
});
