import assert from 'node:assert/strict';
import test from 'node:test';
import type { StoredObject } from '../../storage/store.js';
import { RecentElements } from './recent-elements.js';

const stored = (revision: number): StoredObject => ({ revision }) as StoredObject;

test('an element is found by its object and form, until many others have come', () => {
  const recent = new RecentElements();
  const [form, other] = [{}, {}];
  const [first, second] = [stored(1), stored(2)];
  const element = Buffer.from('element');
  recent.add(form, first, element);
  assert.equal(recent.find(form, first), element);
  assert.equal(recent.find(other, first), undefined);
  assert.equal(recent.find(form, second), undefined);
  recent.add(other, first, Buffer.from('other'));
  assert.equal(recent.find(form, first), element);
  assert.equal(String(recent.find(other, first)), 'other');
  for (let revision = 2; revision < 129; revision++) recent.add(form, stored(revision), element);
  assert.equal(recent.find(form, first), element);
  recent.add(form, stored(129), element);
  assert.equal(recent.find(form, first), undefined);
  assert.equal(recent.find(other, first), undefined);
});

test('another object of the same revision is another', () => {
  const recent = new RecentElements();
  const [object, same] = [stored(7), stored(7)];
  const element = Buffer.from('element');
  recent.add(recent, object, element);
  assert.equal(recent.find(recent, same), undefined);
  recent.add(recent, same, element);
  assert.equal(recent.find(recent, object), undefined);
  assert.equal(recent.find(recent, same), element);
});

test('a large element is not kept', () => {
  const recent = new RecentElements();
  const large = stored(1);
  recent.add(recent, large, Buffer.alloc(64 * 1024));
  assert.equal(recent.find(recent, large), undefined);
});
