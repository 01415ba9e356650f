import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podStrategy } from '../strategy.js';
import { NO_ERRORS, testContext, testPod, texts } from '../testing.js';

const errorsOf = (spec: object): string[] => texts(podStrategy.validate(testPod(spec), testContext()));
const dividing = (resource: string, divisor: string) => ({
  containers: [{ name: 'a', image: 'a', env: [{ name: 'v', valueFrom: { resourceFieldRef: { resource, divisor } } }] }],
});

test('a divisor is judged by resources there are', () => {
  const path = 'spec.containers[0].env[0].valueFrom.resourceFieldRef';
  assert.deepEqual(errorsOf(dividing('limits.cpu', '1k')), [
    `${path}.divisor: Invalid value: "limits.cpu": only divisor's values 1m and 1 are supported with the cpu resource`,
  ]);
  const errors = errorsOf(dividing('cpu', '1k'));
  assert.equal(errors.length, 1);
  assert.match(errors[0] ?? '', /\.resource: Unsupported value: "cpu": supported values: /);
});

test('an empty list is set where lists may not be', () => {
  assert.deepEqual(errorsOf({ os: { name: 'windows' }, securityContext: { supplementalGroups: [], sysctls: [] } }), [
    'spec.securityContext.supplementalGroups: Forbidden: cannot be set for a windows pod',
  ]);
  assert.deepEqual(errorsOf({ resources: { claims: [] } }), [
    'spec.resources.claims: Forbidden: claims may not be set for Resources at pod-level',
  ]);
  const debuggers = (members: object) => ({ ephemeralContainers: [{ name: 'd', image: 'd', ...members }] });
  const refused = (member: string): string =>
    `spec.ephemeralContainers[0].${member}: Forbidden: cannot be set for an Ephemeral Container`;
  assert.deepEqual(errorsOf(debuggers({ ports: [], resources: { limits: {} } })), [
    refused('ports'),
    refused('resources'),
    'spec.ephemeralContainers: Forbidden: cannot be set on create',
  ]);
});

test('resources at the level of the pod are validated', () => {
  const errors = errorsOf({ resources: { limits: { 'ephemeral-storage': '1' } } });
  const known = 'Unsupported value: "ephemeral-storage": supported values: "cpu", "hugepages-", "memory"';
  assert.ok(errors.includes(`spec.resources.limits[ephemeral-storage]: ${known}`), errors.join());
});

test('lengths are counted in bytes', () => {
  const named = (runAsUserName: string) => ({ securityContext: { windowsOptions: { runAsUserName } } });
  assert.deepEqual(errorsOf(named('u'.repeat(104))), []);
  assert.deepEqual(errorsOf(named('ü'.repeat(53))), [
    `spec.securityContext.windowsOptions.runAsUserName: Invalid value: "${'ü'.repeat(53)}": runAsUserName's User length must not be longer than 104 characters`,
  ]);
});

test('labels in refusals are in order', () => {
  const labels = { b: '1', a: '2' };
  const clusterTrustBundle = { name: 'n', path: 'p', labelSelector: { matchLabels: labels } };
  assert.ok(
    errorsOf({ volumes: [{ name: 'v', projected: { sources: [{ clusterTrustBundle }] } }] }).includes(
      'spec.volumes[0].projected.sources[0].clusterTrustBundle.labelSelector: Invalid value: {"matchLabels":{"a":"2","b":"1"}}: labelSelector must be unset if name is specified',
    ),
  );
  const gated = (nodeSelector: object) => testPod({ nodeSelector, schedulingGates: [{ name: 'g' }] });
  assert.ok(
    texts(podStrategy.validateUpdate(gated(labels), gated({ c: '3' }), testContext(), NO_ERRORS)).includes(
      'spec.nodeSelector: Invalid value: {"a":"2","b":"1"}: only additions to spec.nodeSelector are allowed (no mutations or deletions)',
    ),
  );
});
