import assert from 'node:assert/strict';
import { it } from 'node:test';
import { exceeds } from './bounds.js';

it('lists, maps and members count, what stands in texts does not', () => {
  const text = '{"a":[{"b":[]}],"c":1}';
  assert.equal(exceeds(text, { depth: 4, members: 3 }), false);
  assert.equal(exceeds(text, { depth: 3, members: 3 }), true);
  assert.equal(exceeds(text, { depth: 4, members: 2 }), true);
  assert.equal(exceeds('{"a[[[\\"[[:{":"]]{{:{\\\\"}', { depth: 1, members: 1 }), false);
  assert.equal(exceeds('[[],[],[],{}]', { depth: 2, members: 0 }), false);
});
