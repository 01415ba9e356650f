import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StatusError } from '../../machinery/status.js';
import type { AdmissionAttributes } from '../plugin.js';
import { namespaceLifecycle } from './namespace-lifecycle.js';

test('a missing namespace is not found, and one with an invalid name fails', async () => {
  const refusal = async (namespace: string): Promise<unknown> => {
    const attributes = {
      operation: 'CREATE',
      kind: { group: '', version: 'v1', kind: 'ConfigMap' },
      resource: { group: '', version: 'v1', resource: 'configmaps' },
      name: 'a',
      namespace,
      context: { lookup: { get: () => undefined } },
    } as unknown as AdmissionAttributes;
    try {
      await namespaceLifecycle.admit?.(attributes, undefined as never);
      return undefined;
    } catch (error) {
      return error instanceof StatusError ? [error.code, error.message] : error;
    }
  };
  assert.deepEqual(await refusal('missing'), [404, 'namespaces "missing" not found']);
  const fails = (text: string): unknown => [500, `Internal error occurred: invalid resource name ${text}`];
  assert.deepEqual(await refusal('.'), fails(`".": [may not be '.']`));
  assert.deepEqual(await refusal('a%'), fails(`"a%": [may not contain '%']`));
});
