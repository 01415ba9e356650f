import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../../schema/generated/core.v1.js';
import { ephemeralContainersRules, podStrategy, resizeRules } from './strategy.js';
import { NO_ERRORS, testContext, testPod, texts } from './testing.js';

const created = (spec: object, metadata?: object): Pod => {
  const pod = testPod(spec, metadata);
  podStrategy.prepareForCreate?.(pod, testContext());
  return pod;
};
const createErrors = (spec: object, metadata?: object): string[] =>
  texts(podStrategy.validate(created(spec, metadata), testContext()));
const container = (members: object): object => ({ containers: [{ name: 'a', image: 'a', ...members }] });

test('a minimal pod is valid, pending and best effort', () => {
  const pod = created({});
  assert.deepEqual(texts(podStrategy.validate(pod, testContext())), []);
  assert.deepEqual(pod.status, { phase: 'Pending', qosClass: 'BestEffort' });
  assert.equal(pod.metadata.generation, 1);
});

test('an image without tag is pulled always, one with a tag or a malformed one when missing', () => {
  const policy = (image: string): unknown => created(container({ image })).spec.containers?.[0]?.imagePullPolicy;
  const digest = `a@sha256:${'0'.repeat(64)}`;
  assert.deepEqual(['a', 'a:latest', 'host:5000/a'].map(policy), ['Always', 'Always', 'Always']);
  assert.deepEqual(['a:1', digest, 'Not Valid'].map(policy), ['IfNotPresent', 'IfNotPresent', 'IfNotPresent']);
});

test('limits are requested when nothing else is, and decide the quality of service', () => {
  const pod = created(container({ resources: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '1' } } }));
  assert.deepEqual(pod.spec.containers?.[0]?.resources.requests, { cpu: '1', memory: '1Gi' });
  assert.equal(pod.status.qosClass, 'Guaranteed');
});

test('what plugins had containers request is requested for the whole pod, where it states what it may use', () => {
  const pod = created({ resources: { requests: { cpu: '3' }, limits: { cpu: '4' } } });
  for (const { resources } of pod.spec.containers ?? []) resources.requests = { memory: '100Mi' };
  podStrategy.canonicalize?.(pod);
  assert.deepEqual(pod.spec.resources, { requests: { cpu: '3', memory: '100Mi' }, limits: { cpu: '4' } });
});

test('a second volume source is one too many, under the name kube-apiserver gives it', () => {
  const volumes = [{ name: 'v', emptyDir: {}, downwardAPI: { items: [] }, cephfs: { monitors: ['m'] } }];
  assert.deepEqual(createErrors({ volumes }), [
    'spec.volumes[0].cephFS: Forbidden: may not specify more than 1 volume type',
    'spec.volumes[0].downwarAPI: Forbidden: may not specify more than 1 volume type',
  ]);
});

test('a volume that is wrong cannot be mounted', () => {
  const mounted = container({ volumeMounts: [{ name: 'v', mountPath: '/v' }] });
  assert.deepEqual(createErrors({ ...mounted, volumes: [{ name: 'v', hostPath: { path: '/a/../b' } }] }), [
    'spec.volumes[0].hostPath.path: Invalid value: "/a/../b": must not contain \'..\'',
    'spec.containers[0].volumeMounts[0].name: Not found: "v"',
  ]);
});

test('requests above limits, and extended resources without them, are reported at the lists', () => {
  const resources = { limits: { memory: '1Gi' }, requests: { memory: '2Gi', 'example.com/gpu': '1500m' } };
  assert.deepEqual(createErrors(container({ resources })), [
    'spec.containers[0].resources.requests[example.com/gpu]: Invalid value: "1500m": must be an integer',
    'spec.containers[0].resources.limits: Required value: Limit must be set for non overcommitable resources',
    'spec.containers[0].resources.requests: Invalid value: "2Gi": must be less than or equal to memory limit of 1Gi',
  ]);
});

test('the error of a privileged container that may not escalate shows the whole context as kube-apiserver keeps it', () => {
  const [privileged, contradiction] = createErrors(
    container({ securityContext: { privileged: true, allowPrivilegeEscalation: false } }),
  );
  assert.equal(privileged, 'spec.containers[0].securityContext.privileged: Forbidden: disallowed by cluster policy');
  assert.match(contradiction ?? '', /Invalid value: \{"Capabilities":null,"Privileged":true,"SELinuxOptions":null,/);
});

test('probes of init containers need a sidecar', () => {
  const probe = { livenessProbe: { exec: { command: ['x'] } } };
  const init = { name: 'i', image: 'i', ...probe };
  assert.deepEqual(createErrors({ initContainers: [init] }), [
    'spec.initContainers[0].livenessProbe: Forbidden: may not be set for init containers without restartPolicy=Always',
  ]);
  assert.deepEqual(createErrors({ initContainers: [{ ...init, restartPolicy: 'Always' }] }), []);
});

test('fields behind a gate that is off are dropped, unless the old pod used them', () => {
  const spec = { hostnameOverride: 'h' };
  assert.equal(created(spec).spec.hostnameOverride, undefined);
  const pod = testPod(spec);
  podStrategy.prepareForUpdate?.(pod, testPod(spec), testContext());
  assert.equal(pod.spec.hostnameOverride, 'h');
});

test('a gated pod waits under a condition', () => {
  const pod = created({ schedulingGates: [{ name: 'example.test/wait' }] });
  assert.equal(pod.status.conditions?.[0]?.reason, 'SchedulingGated');
  assert.equal(pod.status.conditions?.[0]?.lastTransitionTime, '2026-01-02T03:04:05Z');
});

test('an update may change images and add tolerations, and nothing else', () => {
  const update = (spec: object): string[] =>
    texts(podStrategy.validateUpdate(testPod(spec), testPod(), testContext(), NO_ERRORS));
  assert.deepEqual(update({ ...container({ image: 'b' }), tolerations: [{ operator: 'Exists' }] }), []);
  const [refused] = update(container({ command: ['x'] }));
  assert.match(refused ?? '', /^spec: Forbidden: pod updates may not change fields other than .*\n@@ -5,7 \+5,9 @@\n/);
  assert.match(refused ?? '', /\n- {3}"Command": null,\n\+ {3}"Command": \[\n\+ {4}"x"\n\+ {3}\],\n/);
});

test('the same quantity written otherwise is no change', () => {
  const limited = (memory: string): Pod => testPod(container({ resources: { limits: { memory } } }));
  const errors = podStrategy.validateUpdate(limited('1073741824'), limited('1Gi'), testContext(), NO_ERRORS);
  assert.deepEqual(texts(errors), []);
});

test('a list that was sent empty shows as such, one that was left out as null', () => {
  const old = testPod({ imagePullSecrets: [{ name: 's' }] });
  const text = (spec: object): string =>
    texts(podStrategy.validateUpdate(testPod(spec), old, testContext(), NO_ERRORS)).join();
  assert.match(text({ imagePullSecrets: [] }), /\+ "ImagePullSecrets": \[\],/);
  assert.match(text({}), /\+ "ImagePullSecrets": null,/);
});

test('a list that was sent empty does not show where kube-apiserver builds or drops it', () => {
  const old = testPod({ imagePullSecrets: [{ name: 's' }] });
  const emptied = { initContainers: [], schedulingGates: [], tolerations: [] };
  const pod = testPod({ ...emptied, ...container({ restartPolicyRules: [] }) });
  podStrategy.prepareForUpdate?.(pod, old, testContext());
  const [refused = ''] = texts(podStrategy.validateUpdate(pod, old, testContext(), NO_ERRORS));
  assert.match(refused, /\+ "ImagePullSecrets": null,/);
  assert.ok(!refused.includes('[]'), refused);
});

test('of new scheduling gates by the same name the last is reported', () => {
  const gated = testPod({ schedulingGates: [{ name: 'a' }, { name: 'b' }, { name: 'a' }, { name: 'old' }] });
  const before = testPod({ schedulingGates: [{ name: 'old' }] });
  assert.deepEqual(texts(podStrategy.validateUpdate(gated, before, testContext(), NO_ERRORS)), [
    'spec.schedulingGates[2]: Duplicate value: "a"',
    "spec.schedulingGates[2].name: Forbidden: only deletion is allowed, but found new scheduling gate 'a'",
    "spec.schedulingGates[1].name: Forbidden: only deletion is allowed, but found new scheduling gate 'b'",
  ]);
});

test('a resize changes processor and memory of the containers and raises the generation', () => {
  const sized = (cpu: string): Pod => testPod(container({ resources: { requests: { cpu } } }), { generation: 3 });
  const resize = (pod: Pod, old: Pod): string[] => {
    resizeRules.prepareForUpdate?.(pod, old, testContext());
    return texts(resizeRules.validateUpdate(pod, old, testContext(), NO_ERRORS));
  };
  const pod = sized('2');
  pod.spec.nodeName = 'ignored';
  assert.deepEqual(resize(pod, sized('1')), []);
  assert.equal(pod.spec.nodeName, undefined);
  assert.equal(pod.metadata.generation, 4);
  assert.deepEqual(resize(testPod(), sized('1')), [
    'spec: Invalid value: "": Pod QOS Class may not change as a result of resizing',
    'spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed',
  ]);
});

test('a resize and a debug container leave of the metadata what a status leaves, and no more', () => {
  for (const rules of [resizeRules, ephemeralContainersRules]) {
    const pod = testPod({}, { uid: 'other', generateName: 'a-', labels: { a: 'b' }, ownerReferences: [] });
    rules.prepareForUpdate?.(pod, testPod({}, { uid: 'u', labels: { c: 'd' } }), testContext());
    const { uid, generateName, labels, ownerReferences } = pod.metadata;
    // What was not put back is refused by the rules of all updates.
    assert.deepEqual({ uid, generateName }, { uid: 'other', generateName: 'a-' });
    assert.deepEqual({ labels, ownerReferences }, { labels: { c: 'd' }, ownerReferences: undefined });
  }
});

test('an ended container stays ended under a policy of never', () => {
  const state = (ended: boolean): object => (ended ? { terminated: { exitCode: 1 } } : { running: {} });
  const withState = (ended: boolean): Pod => {
    const pod = testPod({ restartPolicy: 'Never' });
    const status = {
      name: 'a',
      state: state(ended),
      lastState: {},
      ready: false,
      restartCount: 0,
      image: '',
      imageID: '',
    };
    return { ...pod, status: { containerStatuses: [status] } as Pod['status'] };
  };
  const errors = podStrategy.status?.validateUpdate(withState(false), withState(true), testContext(), NO_ERRORS) ?? [];
  assert.deepEqual(texts(errors), [
    'status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state',
  ]);
});

test('several addresses of which one is invalid are reported at the list too', () => {
  const withAddresses = (...ips: string[]): Pod => ({
    ...testPod(),
    status: { phase: 'Running', podIPs: ips.map((ip) => ({ ip })) },
  });
  const errorsOf = (...ips: string[]): string[] =>
    texts(podStrategy.status?.validateUpdate(withAddresses(...ips), withAddresses(), testContext(), NO_ERRORS) ?? []);
  assert.deepEqual(errorsOf('10.0.0.1', 'fd00::1'), []);
  assert.deepEqual(errorsOf('10.0.0.1', 'x'), [
    'status.podIPs[1]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
    'status.podIPs: Internal error: failed to check for dual stack with error:invalid IP[1]: x',
    'status.podIPs: Invalid value: [{"IP":"10.0.0.1"},{"IP":"x"}]: may specify no more than one IP for each IP family',
  ]);
});

test('a node without an address has an empty one', () => {
  const pod: Pod = { ...testPod(), status: { phase: 'Running', hostIPs: [{}] } as Pod['status'] };
  assert.deepEqual(texts(podStrategy.status?.validateUpdate(pod, testPod(), testContext(), NO_ERRORS) ?? []), [
    'status.hostIPs[0]: Invalid value: "": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
  ]);
});

test('nobody waits for pods that do not run', () => {
  const grace = (spec: object, phase: string, requested?: number): number | undefined =>
    podStrategy.delete?.gracePeriodSeconds?.({ ...testPod(spec), status: { phase } }, requested);
  assert.equal(grace({}, 'Pending', 60), 0);
  assert.equal(grace({ nodeName: 'n' }, 'Running'), 30);
  assert.equal(grace({ nodeName: 'n' }, 'Running', 5), 5);
  assert.equal(grace({ nodeName: 'n' }, 'Succeeded'), 0);
});
