import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { MetricRegistry } from '../../lib/telemetry/metrics.js';
import type { PodSpec } from '../../schema/generated/core.v1.js';
import { podSecurityMetrics } from '../pod-security/metrics.js';
import { refusal, type TestAttributes, testAttributes, type TestWrite } from '../test-attributes.js';
import { NO_POD_SECURITY, podSecurity } from './pod-security.js';

const plugin = podSecurity(NO_POD_SECURITY);
const P = 'pod-security.kubernetes.io/';
const namespace = (labels: Record<string, string>): object => ({ metadata: { name: 'ns', labels } });
const pod = (spec: Partial<PodSpec>, metadata: object = {}): object => ({
  metadata: { name: 'p', ...metadata },
  spec: { containers: [{ name: 'a', image: 'i', resources: {} }], ...spec },
});
const inNamespace = (labels: Record<string, string>, write: Partial<TestWrite>): TestAttributes =>
  testAttributes({ resource: 'pods', world: { namespaces: [namespace(labels)] }, ...write });
const enforcing = (level: string, spec: Partial<PodSpec>, version = 'latest', more: Partial<TestWrite> = {}) =>
  inNamespace({ [`${P}enforce`]: level, [`${P}enforce-version`]: version }, { object: pod(spec), ...more });

const hardened = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  runAsNonRoot: true,
  seccompProfile: { type: 'RuntimeDefault' },
};

describe('enforcing', () => {
  test('restricted reports all violations at once, the baseline first', async () => {
    const attributes = enforcing('restricted', {
      hostNetwork: true,
      volumes: [{ name: 'v', hostPath: { path: '/' } }],
    });
    assert.equal(
      await refusal(plugin, attributes),
      'pods "p" is forbidden: violates PodSecurity "restricted:latest": host namespaces (hostNetwork=true), ' +
        'allowPrivilegeEscalation != false (container "a" must set securityContext.allowPrivilegeEscalation=false), ' +
        'unrestricted capabilities (container "a" must set securityContext.capabilities.drop=["ALL"]), ' +
        'restricted volume types (volume "v" uses restricted volume type "hostPath"), ' +
        'runAsNonRoot != true (pod or container "a" must set securityContext.runAsNonRoot=true), ' +
        'seccompProfile (pod or container "a" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
    );
    assert.equal(attributes.annotations[`${P}enforce-policy`], 'restricted:latest');
  });

  test('an old version has the rules of its day', async () => {
    const spec = { securityContext: { runAsNonRoot: true } };
    assert.equal(await refusal(plugin, enforcing('restricted', spec, 'v1.7')), undefined);
    assert.match((await refusal(plugin, enforcing('restricted', spec, 'v1.8'))) ?? '', /allowPrivilegeEscalation/);
    const sysctl = { securityContext: { sysctls: [{ name: 'net.ipv4.tcp_rmem', value: '1' }] } };
    assert.match((await refusal(plugin, enforcing('baseline', sysctl, 'v1.31'))) ?? '', /forbidden sysctls/);
    assert.equal(await refusal(plugin, enforcing('baseline', sysctl, 'v1.32')), undefined);
    const annotation = { metadata: { annotations: { 'seccomp.security.alpha.kubernetes.io/pod': 'unconfined' } } };
    const object = { ...pod({}), ...annotation };
    assert.match((await refusal(plugin, enforcing('baseline', {}, 'v1.18', { object }))) ?? '', /forbidden annotation/);
    assert.equal(await refusal(plugin, enforcing('baseline', {}, 'v1.19', { object })), undefined);
  });

  test('very many containers are held to it cooperatively, and refused as few are', async () => {
    const few = (count: number): Partial<PodSpec> => ({
      containers: Array.from({ length: count }, (_, i) => ({ name: `c${i}`, image: 'i', resources: {} })),
    });
    const others: string[] = [];
    setImmediate(() => others.push('ran'));
    const why = (await refusal(plugin, enforcing('restricted', few(30_000)))) ?? '';
    assert.deepEqual(others, ['ran']);
    const first = (text: string): string => text.slice(0, text.indexOf('(') + 20);
    assert.equal(first(why), first((await refusal(plugin, enforcing('restricted', few(3)))) ?? ''));
  });

  test('a hardened pod passes', async () => {
    const containers = [{ name: 'a', image: 'i', resources: {}, securityContext: hardened }];
    assert.equal(await refusal(plugin, enforcing('restricted', { containers })), undefined);
  });

  test('probes of other hosts count from 1.34 on', async () => {
    const livenessProbe = { httpGet: { host: 'db', port: 80 } };
    const containers = [{ name: 'a', image: 'i', resources: {}, livenessProbe }];
    assert.equal(await refusal(plugin, enforcing('baseline', { containers }, 'v1.33')), undefined);
    assert.match(
      (await refusal(plugin, enforcing('baseline', { containers }, 'v1.34'))) ?? '',
      /probe or lifecycle host \(container "a" uses probe or lifecycle host "db"\)/,
    );
  });

  test('an update without a new image passes, one with it does not', async () => {
    const old = pod({ hostPID: true });
    const more = { old, object: pod({ hostPID: true }) };
    assert.equal(await refusal(plugin, enforcing('baseline', {}, 'latest', more)), undefined);
    const containers = [{ name: 'a', image: 'other', resources: {} }];
    const changed = { old, object: pod({ hostPID: true, containers }) };
    assert.match((await refusal(plugin, enforcing('baseline', {}, 'latest', changed))) ?? '', /hostPID=true/);
  });

  test('a level nobody knows is the strictest', async () => {
    const attributes = enforcing('strict', {});
    assert.match((await refusal(plugin, attributes)) ?? '', /violates PodSecurity "restricted:latest"/);
    assert.match(attributes.annotations[`${P}error`] ?? '', /must be one of privileged, baseline, restricted/);
  });
});

test('workloads are warned about, not refused, and noted for audit', async () => {
  const template = pod({ hostPID: true });
  const attributes = inNamespace(
    { [`${P}enforce`]: 'baseline', [`${P}audit`]: 'baseline', [`${P}audit-version`]: 'v1.20' },
    { resource: 'deployments.apps', object: { metadata: { name: 'd' }, spec: { template } } },
  );
  assert.equal(await refusal(plugin, attributes), undefined);
  assert.deepEqual(attributes.warnings, [
    'would violate PodSecurity "baseline:latest": host namespaces (hostPID=true)',
  ]);
  assert.equal(
    attributes.annotations[`${P}audit-violations`],
    'would violate PodSecurity "baseline:v1.20": host namespaces (hostPID=true)',
  );
});

describe('namespaces', () => {
  const update = (labels: Record<string, string>, pods: readonly object[], before = {}): TestAttributes =>
    testAttributes({
      resource: 'namespaces',
      kind: 'Namespace',
      object: namespace(labels),
      old: namespace(before),
      world: { pods },
    });

  test('labels that make no sense are refused, unless they were there before', async () => {
    const labels = { [`${P}enforce`]: 'x' };
    assert.match(
      (await refusal(plugin, update(labels, []))) ?? '',
      /Namespace "ns" is invalid: metadata.labels\[pod-security.kubernetes.io\/enforce\]: Invalid value: "x": must be one of/,
    );
    assert.equal(await refusal(plugin, update(labels, [], labels)), undefined);
  });

  test('a stricter level warns about what it would have refused', async () => {
    const owned = (name: string, uid: string): object =>
      pod({ hostPID: true }, { name, ownerReferences: [{ uid, controller: true }] });
    const attributes = update({ [`${P}enforce`]: 'baseline' }, [owned('b', '1'), owned('a', '1'), pod({})]);
    assert.equal(await refusal(plugin, attributes), undefined);
    assert.deepEqual(attributes.warnings, [
      'existing pods in namespace "ns" violate the new PodSecurity enforce level "baseline:latest"',
      'a (and 1 other pod): host namespaces',
    ]);
  });

  test('evaluating thousands of pods yields to the event loop', async () => {
    const pods = Array.from({ length: 3000 }, (_, i) =>
      pod(
        { containers: Array.from({ length: 5 }, () => ({ name: 'c', resources: {} })), hostPID: true },
        { name: `${i}` },
      ),
    );
    const attributes = update({ [`${P}enforce`]: 'restricted' }, pods);
    let yields = 0;
    let next = setImmediate(function count() {
      yields++;
      next = setImmediate(count);
    });
    assert.equal(await refusal(plugin, attributes), undefined);
    clearImmediate(next);
    assert.equal(attributes.warnings.length, 2);
    assert.ok(yields > 2, `${yields}`);
  });
});

test('who is exempt is not checked', async () => {
  const exempting = podSecurity({
    ...NO_POD_SECURITY,
    exemptions: { usernames: ['alice'], namespaces: [], runtimeClasses: [] },
  });
  const attributes = enforcing('baseline', { hostPID: true });
  assert.equal(await refusal(exempting, attributes), undefined);
  assert.equal(attributes.annotations[`${P}exempt`], 'user');
});

test('what was decided is counted, by level, version and mode', async () => {
  const registry = new MetricRegistry();
  const counting = podSecurity({ ...NO_POD_SECURITY, recorder: podSecurityMetrics(registry) });
  await refusal(counting, enforcing('baseline', { hostPID: true }, 'v1.99'));
  await refusal(counting, enforcing('privileged', { hostPID: true }));
  const lines = registry.text().split('\n');
  assert.ok(
    lines.includes('pod_security_exemptions_total{request_operation="update",resource="controller",subresource=""} 0'),
  );
  const series = (labels: string): string => `pod_security_evaluations_total{${labels}} 1`;
  const where = 'request_operation="create",resource="pod",subresource=""';
  assert.ok(
    lines.includes(series(`decision="deny",mode="enforce",policy_level="baseline",policy_version="future",${where}`)),
  );
  assert.ok(
    lines.includes(
      series(`decision="allow",mode="enforce",policy_level="privileged",policy_version="latest",${where}`),
    ),
  );
});
