import assert from 'node:assert/strict';
import test from 'node:test';
import type { CustomResourceDefinition } from '../../schema/generated/apiextensions.v1.js';
import { normalize } from '../../schema/json/decode.js';
import { mustType } from '../../schema/catalogue.js';
import { fromStoredForm, toStoredForm } from './stored-form.js';

const type = mustType('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition');

function definition(versions: object[], conversion: object = { strategy: 'None' }): CustomResourceDefinition {
  const names = { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' };
  return normalize(type, {
    kind: 'CustomResourceDefinition',
    apiVersion: 'apiextensions.k8s.io/v1',
    metadata: { name: 'widgets.example.test', uid: 'u' },
    spec: { group: 'example.test', names, scope: 'Namespaced', versions, conversion },
    status: { conditions: [], acceptedNames: names, storedVersions: ['v1'] },
  }) as unknown as CustomResourceDefinition;
}

const version = (name: string, storage: boolean, schema: object) => ({
  name,
  served: true,
  storage,
  schema: { openAPIV3Schema: schema },
  subresources: { status: {} },
  additionalPrinterColumns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }],
});
const back = (crd: CustomResourceDefinition): unknown => normalize(type, fromStoredForm(toStoredForm(crd)));

test('a definition of one version is kept with its schema, columns and subresources at the top', () => {
  const stored = toStoredForm(definition([version('v1', true, { type: 'object' })]));
  assert.equal(stored['apiVersion'], 'apiextensions.k8s.io/v1beta1');
  const spec = stored['spec'] as Record<string, unknown>;
  assert.equal(spec['version'], 'v1');
  assert.deepEqual(spec['validation'], { openAPIV3Schema: { type: 'object' } });
  assert.deepEqual(spec['additionalPrinterColumns'], [{ name: 'Size', type: 'integer', JSONPath: '.spec.size' }]);
  assert.deepEqual(spec['versions'], [{ name: 'v1', served: true, storage: true }]);
  assert.equal(spec['preserveUnknownFields'], false);
});

test('what was kept reads back as it was, with one version, several and a conversion webhook', () => {
  const webhook = { clientConfig: { url: 'https://example.test' }, conversionReviewVersions: ['v1'] };
  for (const crd of [
    definition([version('v1', true, { type: 'object' })]),
    definition([version('v2', true, { type: 'object', nullable: true }), version('v1', false, { type: 'object' })]),
    definition([version('v1', true, { type: 'object' })], { strategy: 'Webhook', webhook }),
  ]) {
    assert.deepEqual(back(crd), crd);
  }
});

test('a definition from before versions were listed is served in the one it names', () => {
  const names = { plural: 'widgets', kind: 'Widget' };
  const old = { apiVersion: 'apiextensions.k8s.io/v1beta1', spec: { group: 'example.test', version: 'v1', names } };
  const spec = fromStoredForm(old)['spec'] as Record<string, unknown>;
  assert.equal(spec['preserveUnknownFields'], true);
  const [only] = spec['versions'] as Record<string, unknown>[];
  assert.deepEqual([only?.['name'], only?.['served'], only?.['storage']], ['v1', true, true]);
});
