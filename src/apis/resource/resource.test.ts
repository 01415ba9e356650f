import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FieldPath, fieldErrorText } from '../../machinery/field-error.js';
import { type Answer, TestApi } from '../../server/testing/test-api.js';
import type { KindDefinition } from '../../registry/kind.js';
import type { DeviceClaim, ResourceSlice } from '../../schema/generated/resource.v1.js';
import { validateCapacityPolicy } from './capacity-policy.js';
import { requestNamesOf, validateRequestReference } from './claim-validation.js';
import { shortened } from './collection-rules.js';
import { validateQualifiedName, validateUid } from './name-rules.js';
import { resourceClaimKind } from './resource-claim.js';
import { claimFromOld, claimToOld, sliceFromOld, sliceToOld } from './v1beta1-conversion.js';

const PATH = FieldPath.of('x');
const texts = (errors: Parameters<typeof fieldErrorText>[0][]): string[] => errors.map(fieldErrorText);

test('a request of v1beta1 carries its wishes itself; one with alternatives has none', () => {
  const claim: DeviceClaim = {
    requests: [
      { name: 'a', exactly: { deviceClassName: 'gpu', allocationMode: 'ExactCount', count: 2 } },
      { name: 'b', firstAvailable: [{ name: 'b1', deviceClassName: 'gpu', allocationMode: 'All' }] },
    ],
  };
  const old = claimToOld(structuredClone(claim));
  assert.deepEqual(old.requests, [
    { name: 'a', deviceClassName: 'gpu', allocationMode: 'ExactCount', count: 2 },
    {
      name: 'b',
      deviceClassName: '',
      firstAvailable: [{ name: 'b1', deviceClassName: 'gpu', allocationMode: 'All' }],
    },
  ]);
  assert.deepEqual(claimFromOld(old), claim);
});

test('a device of v1beta1 keeps its members one level deeper', () => {
  const slice: ResourceSlice = {
    metadata: { name: 's' },
    spec: {
      driver: 'd',
      pool: { name: 'p', generation: 1, resourceSliceCount: 1 },
      devices: [{ name: 'gpu-0', attributes: { model: { string: 'x' } } }],
    },
  };
  const old = sliceToOld(structuredClone(slice));
  assert.deepEqual(old.spec.devices, [{ name: 'gpu-0', basic: { attributes: { model: { string: 'x' } } } }]);
  assert.deepEqual(sliceFromOld(old), slice);
});

test('requests are referred to by their name, alternatives by both names', () => {
  const names = requestNamesOf({
    requests: [{ name: 'a' }, { name: 'b', firstAvailable: [{ name: 'c', deviceClassName: 'x' }] }],
  });
  assert.deepEqual(validateRequestReference('a', PATH, names), []);
  assert.deepEqual(validateRequestReference('b/c', PATH, names), []);
  assert.equal(validateRequestReference('a/c', PATH, names).length, 1);
  assert.equal(validateRequestReference('b/c/d', PATH, names).length, 1);
});

test('a range of capacity is judged by value, whatever the suffix', () => {
  const capacity = (validRange: object, wanted: string) => ({
    value: '2Ki',
    requestPolicy: { default: wanted, validRange },
  });
  assert.deepEqual(validateCapacityPolicy(capacity({ min: '1Ki', step: '512' }, '1536'), PATH), []);
  assert.deepEqual(texts(validateCapacityPolicy(capacity({ min: '1Ki', max: '3Ki', step: '1Ki' }, '1500'), PATH)), [
    'x.validRange.max: Invalid value: "3Ki": max is larger than capacity value: 2Ki',
    'x.validRange.step: Invalid value: "1500": value is not a multiple of a given step (1Ki) from (1Ki)',
  ]);
});

test('values must be sorted, distinct by value, and hold the default', () => {
  const policy = { value: '10', requestPolicy: { default: '3', validValues: ['2', '1', '1000m', '11'] } };
  assert.deepEqual(texts(validateCapacityPolicy(policy, PATH)), [
    'x.validValues[1]: Invalid value: "1": values must be sorted in ascending order',
    'x.validValues[3]: Invalid value: "11": option is larger than capacity value: 10',
    'x.validValues[2]: Duplicate value: "1"',
    'x.validValues: Invalid value: "3": default value is not valid according to the requestPolicy',
  ]);
});

test('names of attributes, uids and long keys', () => {
  assert.deepEqual(validateQualifiedName('gpu.example.com/model', PATH), []);
  assert.deepEqual(texts(validateQualifiedName('/model', PATH)), ['x: Required value: the domain must not be empty']);
  assert.deepEqual(validateUid('6ba7b810-9dad-11d1-80b4-00c04fd430c8', PATH), []);
  assert.deepEqual(texts(validateUid('short', PATH)), [
    'x: Invalid value: "short": error validating uid: invalid UUID length: 5',
  ]);
  assert.equal(shortened('a'.repeat(10) + 'b'.repeat(10), 17), 'aaaaaaa...bbbbbbb');
});

const CLAIMS = '/apis/resource.k8s.io/v1/namespaces/n/resourceclaims';
const claimsApi = (): TestApi =>
  new TestApi({
    kinds: [resourceClaimKind(undefined) as unknown as KindDefinition],
    gates: { DRADeviceTaints: true },
    runtimeConfig: { 'resource.k8s.io/v1beta1': 'true' },
  });
const messages = ({ body }: Answer): string[] =>
  (body.details?.causes ?? []).map(({ field, message }) => `${field}: ${message}`);

test('a toleration compares unless it says otherwise, in each version and in what was allocated', async () => {
  const api = claimsApi();
  const wanted = { deviceClassName: 'gpu', tolerations: [{}] };
  const metadata = { name: 'a' };
  const made = await api.post(CLAIMS, { metadata, spec: { devices: { requests: [{ name: 'r', exactly: wanted }] } } });
  assert.equal(made.status, 201);
  assert.match(JSON.stringify(made.body.spec), /"tolerations":\[\{"operator":"Equal"\}\]/);
  const results = [{ request: 'r', driver: 'd', pool: 'p', device: 'x', tolerations: [{}] }];
  const status = { allocation: { devices: { results } } };
  const allocated = await api.patch(`${CLAIMS}/a/status`, 'application/merge-patch+json', { status });
  assert.match(JSON.stringify(allocated.body.status), /"tolerations":\[\{"operator":"Equal"\}\]/);
  const old = CLAIMS.replace('/v1/', '/v1beta1/');
  const alternative = { name: 's', ...wanted };
  const requests = [
    { name: 'r', ...wanted },
    { name: 'f', firstAvailable: [alternative] },
  ];
  const older = await api.post(old, { metadata: { name: 'b' }, spec: { devices: { requests } } });
  assert.equal(older.status, 201);
  assert.equal(JSON.stringify(older.body.spec).split('"operator":"Equal"').length, 3);
});

test('errors show of a device only that it is one', async () => {
  const api = claimsApi();
  await api.post(CLAIMS, { metadata: { name: 'a' }, spec: {} });
  const device = { driver: 'd', pool: 'p', device: 'x' };
  const status = { devices: [device, device] };
  const refused = await api.patch(`${CLAIMS}/a/status`, 'application/merge-patch+json', { status });
  const shown = '{"Driver":{},"Pool":{},"Device":{},"ShareID":{}}';
  assert.deepEqual(messages(refused), [
    `status.devices[0]: Invalid value: ${shown}: must be an allocated device in the claim`,
    `status.devices[1]: Invalid value: ${shown}: must be an allocated device in the claim`,
    `status.devices[1].deviceID: Duplicate value: ${shown}`,
  ]);
});
