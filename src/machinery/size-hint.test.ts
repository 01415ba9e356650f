import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasBytes } from './size-hint.js';

test('whether an object is large is known without walking all of it, nor its managed fields', () => {
  const fieldsV1 = new Proxy({}, { ownKeys: () => assert.fail('they were read') });
  const metadata = { name: 'a', managedFields: [{ manager: 'm', fieldsV1 }] };
  assert.equal(hasBytes({ metadata, data: { a: 'x'.repeat(50) } }, 1_000), false);
  assert.equal(hasBytes({ metadata, data: { a: 'x'.repeat(2_000) } }, 1_000), true);
  const many = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`k${i}`, '']));
  const last = {
    get never(): string {
      return assert.fail('it was read');
    },
  };
  assert.equal(hasBytes({ many, last }, 1_000), true);
});
