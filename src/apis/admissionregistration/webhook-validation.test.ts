import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FieldPath, fieldErrorText } from '../../machinery/field-error.js';
import type { KindDefinition } from '../../registry/kind.js';
import { TestApi } from '../../server/testing/test-api.js';
import { validateRule } from './resource-rules.js';
import { mutatingWebhookConfiguration } from './webhook-configurations.js';
import { type Webhook, validateWebhooks } from './webhook-validation.js';

const webhook = (change: Partial<Webhook> = {}): Webhook => ({
  name: 'a.example.test',
  clientConfig: { url: 'https://h' },
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
  ...change,
});

const texts = (webhooks: Webhook[], old?: Webhook[]): string[] =>
  validateWebhooks(webhooks, old, undefined).map(fieldErrorText);

test('a wildcard does not stand beside what it covers', () => {
  const errorsOf = (resources: string[]): string[] =>
    validateRule({ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources }, FieldPath.of('r')).map(
      fieldErrorText,
    );
  assert.deepEqual(errorsOf(['pods', 'pods/*', '*/scale']), []);
  assert.deepEqual(errorsOf(['pods/*', 'pods/status']), [
    'r.resources[1]: Invalid value: "pods/status": if \'pods/*\' is present, must not specify pods/status',
  ]);
  assert.deepEqual(errorsOf(['*', 'pods']), [
    'r.resources: Invalid value: ["*","pods"]: if \'*\' is present, must not specify other resources without subresources',
  ]);
});

test('an update is no stricter than the stored configuration', () => {
  const lax = webhook({ sideEffects: 'Unknown', admissionReviewVersions: ['v0'] });
  assert.deepEqual(texts([lax]), [
    'webhooks[0].sideEffects: Unsupported value: "Unknown": supported values: "None", "NoneOnDryRun"',
    'webhooks[0].admissionReviewVersions: Invalid value: ["v0"]: must include at least one of v1, v1beta1',
  ]);
  assert.deepEqual(texts([lax], [lax]), []);
  assert.deepEqual(texts([webhook(), webhook()]), ['webhooks[1].name: Duplicate value: "a.example.test"']);
  assert.deepEqual(texts([webhook(), webhook()], [webhook(), webhook()]), []);
});

test('no webhooks that are sent as an empty list raise the generation each time', async () => {
  const api = new TestApi({ kinds: [mutatingWebhookConfiguration(undefined) as unknown as KindDefinition] });
  const path = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations';
  await api.post(path, { metadata: { name: 'a' } });
  const generation = async (webhooks?: object[]): Promise<number | undefined> => {
    const { body } = await api.send('PATCH', `${path}/a`, {
      headers: { 'content-type': 'application/merge-patch+json' },
      body: webhooks === undefined ? {} : { webhooks },
    });
    return body.metadata.generation;
  };
  assert.deepEqual([await generation(), await generation([]), await generation([])], [1, 2, 3]);
});
