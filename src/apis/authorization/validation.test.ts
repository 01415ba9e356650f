import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runSync } from '../../lib/scheduling/yield.js';
import type { SubjectAccessReview } from '../../schema/generated/authorization.v1.js';
import { validateSubjectAccessReview } from './validation.js';

test('metadata that a review may not have is shown in the order of its type', () => {
  const metadata = { labels: { a: 'b' }, generateName: 'g', name: 'n' };
  const spec = { user: 'u', nonResourceAttributes: { path: '/', verb: 'get' } };
  const [error] = runSync(validateSubjectAccessReview({ metadata, spec } as unknown as SubjectAccessReview));
  assert.equal(error?.field, 'metadata');
  assert.match(
    error?.body ?? '',
    /^Invalid value: \{"name":"n","generateName":"g","labels":\{"a":"b"\}\}: must be empty$/,
  );
});
