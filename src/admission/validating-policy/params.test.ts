import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StoredObject } from '../../storage/store.js';
import { testAttributes } from '../test-attributes.js';
import { collectParams } from './params.js';

test('parameters that are not selected are not parsed', async () => {
  const { context, ...attributes } = testAttributes({ resource: 'pods', object: { metadata: { name: 'a' } } });
  const chosen = { metadata: { name: 'b', labels: { of: 'us' } } };
  const list = (): readonly StoredObject[] =>
    [
      { labels: {}, object: () => assert.fail('parsed') },
      { labels: { of: 'us' }, object: () => chosen },
      { labels: { of: 'others' }, object: () => assert.fail('parsed') },
    ] as unknown as readonly StoredObject[];
  const served = { convert: () => undefined, inVersion: (_resource: unknown, object: unknown) => object };
  const params = await collectParams(
    { group: '', version: 'v1', resource: 'configmaps', namespaced: true },
    { selector: { matchLabels: { of: 'us' } } },
    { ...attributes, context: { ...context, lookup: { ...context.lookup, list } } },
    served as never,
  );
  assert.deepEqual(params, [chosen]);
});
