import assert from 'node:assert/strict';
import { it } from 'node:test';
import { HeldSelectors, LONG_SELECTOR } from './held-selectors.js';
import { SelectorError } from './label-requirement.js';

const LONG = 'a'.repeat(LONG_SELECTOR);

it('a long selector is read once for all who hold it, and goes after the last of them when another was read', async () => {
  let reads = 0;
  const selectors = new HeldSelectors(function* () {
    yield;
    return ++reads;
  });
  assert.equal(selectors.find(LONG), undefined);
  const release = [await selectors.hold(LONG), await selectors.hold(LONG)];
  assert.equal(selectors.find(LONG), 1);
  release[0]?.();
  assert.equal(selectors.find(LONG), 1);
  release[1]?.();
  assert.equal(selectors.find(LONG), 1);
  const other = await selectors.hold(`${LONG}b`);
  assert.equal(selectors.find(LONG), undefined);
  assert.equal(selectors.find(`${LONG}b`), 2);
  other();
});

it('an invalid selector is refused on each use', async () => {
  const selectors = new HeldSelectors<string>(function* () {
    yield;
    throw new SelectorError('none');
  });
  await selectors.hold(LONG);
  assert.throws(() => selectors.find(LONG), /none/);
});
