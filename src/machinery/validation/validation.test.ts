import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FieldPath, fieldErrorText } from '../field-error.js';
import { isFullyQualifiedDomainName } from './fields.js';
import { isValidCidr, isValidIpForLegacyField, warningsForCidr, warningsForIp } from './ip.js';
import { validateLabelSelector } from './label-selector.js';
import {
  isConfigMapKey,
  isDns1035Label,
  isDns1123Label,
  isDns1123Subdomain,
  isQualifiedName,
  isRelaxedEnvVarName,
  isValidPortName,
  nameIsDnsLabel,
  pathSegmentName,
} from './names.js';
import { validateObjectMeta, validateObjectMetaUpdate } from './object-meta.js';

const PATH = FieldPath.of('spec');

test('names that are right are silent', () => {
  assert.deepEqual(isDns1123Label('a-1'), []);
  assert.deepEqual(isDns1123Subdomain('a.b-c.d'), []);
  assert.deepEqual(isDns1035Label('web'), []);
  assert.deepEqual(isQualifiedName('example.com/My_Name'), []);
  assert.deepEqual(isConfigMapKey('..a'.slice(1)), []);
  assert.deepEqual(isValidPortName('http-2'), []);
  assert.deepEqual(isRelaxedEnvVarName('a b!'), []);
});

test('names that are wrong say every reason', () => {
  assert.deepEqual(isDns1123Label('a.b'), ['must not contain dots']);
  assert.equal(isDns1123Label('A'.repeat(64)).length, 2);
  assert.match(isDns1035Label('1a')[0] ?? '', /^a DNS-1035 label must consist of/);
  assert.deepEqual(isQualifiedName('/a')[0], 'prefix part must be non-empty');
  assert.equal(isQualifiedName('a/b/c').length, 1);
  assert.deepEqual(isConfigMapKey('..'), ["must not be '..'"]);
  assert.equal(isValidPortName('--').length, 3);
  assert.deepEqual(pathSegmentName('a/b%', false), ["may not contain '/'", "may not contain '%'"]);
  assert.deepEqual(pathSegmentName('..', true), []);
});

test('a prefix for generated names may end in a dash', () => {
  assert.deepEqual(nameIsDnsLabel('web-', true), []);
  assert.equal(nameIsDnsLabel('web-', false).length, 1);
});

test('a length is counted in bytes', () => {
  assert.equal(isDns1123Label('é'.repeat(32)).length, 2);
});

test('metadata is checked in the order its errors are shown', () => {
  const meta = {
    name: 'Bad',
    labels: { 'a b': 'x', ok: '-' },
    annotations: { 'A/b/c': '' },
    ownerReferences: [
      { apiVersion: 'v1', kind: 'Pod', name: 'a', uid: '1', controller: true },
      { apiVersion: 'v1', kind: 'Pod', name: 'b', uid: '2', controller: true },
    ],
    finalizers: ['orphan', 'foregroundDeletion'],
  };
  const errors = validateObjectMeta(meta, { namespaced: true, validateName: nameIsDnsLabel });
  assert.deepEqual(
    errors.map(({ field }) => field),
    [
      'metadata.name',
      'metadata.namespace',
      'metadata.labels',
      'metadata.labels',
      'metadata.annotations',
      'metadata.ownerReferences',
      'metadata.finalizers',
    ],
  );
});

test('an owner is named with a version', () => {
  const owned = (apiVersion: string) => {
    const ownerReferences = [{ apiVersion, kind: 'Pod', name: 'a', uid: '1' }];
    return validateObjectMeta({ name: 'a', ownerReferences }, { namespaced: false, validateName: nameIsDnsLabel });
  };
  assert.deepEqual(owned('g/v1'), []);
  for (const apiVersion of ['', '/', 'g/', 'a/b/c']) {
    assert.deepEqual(owned(apiVersion).map(fieldErrorText), [
      `metadata.ownerReferences.apiVersion: Invalid value: "${apiVersion}": version must not be empty`,
    ]);
  }
});

test('an object that is being deleted accepts no new finalizers', () => {
  const old = { name: 'a', resourceVersion: '1', deletionTimestamp: '2020-01-01T00:00:00Z', finalizers: ['a.b/c'] };
  const errors = validateObjectMetaUpdate({ ...old, finalizers: ['a.b/c', 'x.y/z'] }, old);
  assert.deepEqual(errors.map(fieldErrorText), [
    'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"x.y/z"}',
  ]);
});

test('a selector names its faulty requirement', () => {
  const selector = {
    matchExpressions: [
      { key: 'a', operator: 'In' },
      { key: 'b', operator: 'Is', values: ['c d'] },
    ],
  };
  assert.deepEqual(
    validateLabelSelector(selector, {}, PATH).map(({ field }) => field),
    ['spec.matchExpressions[0].values', 'spec.matchExpressions[1].operator', 'spec.matchExpressions[1].values[0]'],
  );
});

test('older fields accept odd addresses and warn; newer ones refuse them', () => {
  assert.deepEqual(isValidIpForLegacyField(PATH, '010.0.0.1'), []);
  assert.equal(isValidIpForLegacyField(PATH, '010.0.0.1', { strict: true }).length, 1);
  assert.deepEqual(isValidIpForLegacyField(PATH, 'nonsense', { old: new Set(['nonsense']) }), []);
  assert.match(warningsForIp(PATH, '010.0.0.1')[0] ?? '', /use "10\.0\.0\.1"$/);
  assert.match(isValidCidr(PATH, '10.0.0.1/24')[0]?.body ?? '', /must not have bits set beyond the prefix length$/);
  assert.match(warningsForCidr(PATH, '10.0.0.1/24')[0] ?? '', /should be "10\.0\.0\.0\/24" or "10\.0\.0\.1\/32"\?/);
});

test('a domain has two labels at least', () => {
  assert.equal(isFullyQualifiedDomainName(PATH, 'example').length, 1);
  assert.deepEqual(isFullyQualifiedDomainName(PATH, 'example.com.'), []);
});
