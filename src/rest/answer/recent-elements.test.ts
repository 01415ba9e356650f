import assert from 'node:assert/strict';
import test from 'node:test';
import type { StoredObject } from '../../storage/store.js';
import { RecentElements } from './recent-elements.js';

const stored = (key: string): StoredObject => ({ key }) as StoredObject;

test('an element is found by its object and form, until many others have come', () => {
  const recent = new RecentElements();
  const [form, other] = [{}, {}];
  const [first, second] = [stored('a'), stored('b')];
  const element = Buffer.from('element');
  recent.add(form, first, element);
  assert.equal(recent.find(form, first), element);
  assert.equal(recent.find(other, first), undefined);
  assert.equal(recent.find(form, second), undefined);
  recent.add(other, first, Buffer.from('other'));
  assert.equal(recent.find(form, first), element);
  assert.equal(String(recent.find(other, first)), 'other');
  for (let at = 0; at < 127; at++) recent.add(form, stored(String(at)), element);
  assert.equal(recent.find(form, first), undefined);
  assert.equal(String(recent.find(other, first)), 'other');
  recent.add(form, second, element);
  assert.equal(recent.find(other, first), undefined);
  assert.equal(recent.find(form, second), element);
});

test('a large element is not kept', () => {
  const recent = new RecentElements();
  const large = stored('large');
  recent.add(recent, large, Buffer.alloc(64 * 1024));
  assert.equal(recent.find(recent, large), undefined);
});
