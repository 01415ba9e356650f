import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../machinery/object.js';
import type { StoredObject } from '../storage/store.js';
import type { LifeContext } from './kind.js';
import type { ResourceRegistry } from './registry.js';
import { remove } from './remove.js';

const unparsed = { key: 'a', revision: 1, object: () => assert.fail('parsed at once') } as unknown as StoredObject;
const context = {} as LifeContext;

const registry = (removed: StoredObject, after?: (object: Readonly<KubeObject>) => Promise<void>) =>
  ({
    kind: { strategy: { ...(after && { delete: { after } }) } },
    store: { delete: () => Promise.resolve(removed) },
  }) as unknown as ResourceRegistry;

test('what is deleted is parsed only for a kind that releases something, and cooperatively', async () => {
  assert.equal(await remove(registry(unparsed), 'a', unparsed, context), unparsed);
  const object: KubeObject = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'a' } };
  const large = { ...unparsed, load: () => Promise.resolve(object) };
  const released: unknown[] = [];
  await remove(
    registry(large, (last) => Promise.resolve(void released.push(last))),
    'a',
    large,
    context,
  );
  assert.deepEqual(released, [object]);
});
