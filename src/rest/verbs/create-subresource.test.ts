import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serviceAccountKind } from '../../apis/core/serviceaccount/definition.js';
import type { KindDefinition } from '../../registry/kind.js';
import { TestApi } from '../../server/testing/test-api.js';

test('the requester of a token is noted on the answer, with what was filled in', async () => {
  const accounts = serviceAccountKind({ createToken: async ({ body }) => ({ code: 201, object: body }) });
  const api = new TestApi({ kinds: [accounts as unknown as KindDefinition] });
  const { status, body } = await api.post(
    '/api/v1/namespaces/n/serviceaccounts/robot/token',
    { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { audiences: ['a'] } },
    { 'user-agent': 'kubectl/v1.34' },
  );
  assert.equal(status, 201);
  const [entry] = body.metadata.managedFields ?? [];
  assert.deepEqual(
    { ...entry, time: undefined },
    {
      manager: 'kubectl',
      operation: 'Update',
      apiVersion: 'authentication.k8s.io/v1',
      time: undefined,
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:spec': { 'f:audiences': {}, 'f:expirationSeconds': {} } },
      subresource: 'token',
    },
  );
});
