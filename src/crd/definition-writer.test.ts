import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../machinery/object.js';
import type { LifeContext, ObjectOperations } from '../registry/kind.js';
import { createDefinitionWriter } from './definition-writer.js';

test('a condition is set and noted without a look at the schemas', async () => {
  const untouched = new Proxy({}, { ownKeys: () => assert.fail('listed'), get: () => assert.fail('read') });
  const noted = { manager: 'a', operation: 'Update', apiVersion: 'apiextensions.k8s.io/v1', fieldsType: 'FieldsV1' };
  const object = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'a', managedFields: [{ ...noted, fieldsV1: { 'f:spec': { 'f:group': {} } } }] },
    spec: untouched,
    status: { conditions: [{ type: 'Other', status: 'True' }] },
  };
  const operations = {
    update: ({ change }: { readonly change: (of: unknown) => KubeObject }) => Promise.resolve(change(object)),
  } as unknown as ObjectOperations;
  const writer = createDefinitionWriter({ operations, context: () => ({ now: () => new Date(0) }) as LifeContext });
  const written = await writer.update('a', (_definition, set) => {
    set({ type: 'Established', status: 'True', reason: 'r', message: 'm' });
    return true;
  });
  assert.deepEqual(
    written?.status?.conditions?.map(({ type }) => type),
    ['Other', 'Established'],
  );
  const [first, own] = written?.metadata.managedFields ?? [];
  assert.deepEqual([first?.manager, own?.subresource], ['a', 'status']);
  assert.deepEqual(Object.keys((own?.fieldsV1?.['f:status'] as object) ?? {}), ['f:conditions']);
});
