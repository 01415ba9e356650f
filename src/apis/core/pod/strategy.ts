import { append } from '../../../lib/values/append.js';
import { FieldPath } from '../../../machinery/field-error.js';
import { isDns1123Label } from '../../../machinery/validation/names.js';
import { warningsForIp } from '../../../machinery/validation/ip.js';
import { nameIsDnsSubdomain } from '../../../machinery/validation/names.js';
import type { DeleteStrategy, LifeContext, StatusStrategy, Strategy } from '../../../registry/kind.js';
import type { Container, Pod, PodCondition } from '../../../schema/generated/core.v1.js';
import { adoptAppArmorAnnotations } from './apparmor.js';
import { aliasServiceAccount, defaultPodResources } from './defaults.js';
import { dropDisabledPodFields } from './drop-disabled-fields.js';
import { samePodSpec } from './equal.js';
import { mergeLabelKeys } from './match-label-keys.js';
import { qosClassOf } from './qos.js';
import { validateEphemeralContainersUpdate } from './validation/ephemeral-containers.js';
import { podRules, podStatusRules } from './validation/options.js';
import { validatePodCreate } from './validation/pod.js';
import { validatePodResize } from './validation/resize.js';
import { validatePodStatusUpdate } from './validation/status.js';
import { validatePodUpdate } from './validation/update.js';
import { warningsForPod } from './warnings.js';
import { timeOf } from '../../../machinery/time.js';
import { keepMetaForStatus } from '../../status-metadata.js';

const STATUS = FieldPath.of('status');

const podDeletion: DeleteStrategy<Pod> = {
  returnsObject: true,
  gracePeriodSeconds: ({ spec, status }, requested) => {
    // Nothing runs yet, or nothing any more: there is nobody to wait for.
    if (!spec.nodeName || status.phase === 'Failed' || status.phase === 'Succeeded') return 0;
    const seconds = requested ?? spec.terminationGracePeriodSeconds ?? 0;
    return seconds < 0 ? 1 : seconds;
  },
};

const podStatus: StatusStrategy<Pod> = {
  prepareForUpdate: (pod, old, { features }) => {
    if (pod.metadata.deletionTimestamp !== undefined) delete pod.metadata.deletionTimestamp;
    if (old.metadata.ownerReferences !== undefined) pod.metadata.ownerReferences = old.metadata.ownerReferences;
    else if (pod.metadata.ownerReferences !== undefined) delete pod.metadata.ownerReferences;
    if (!pod.status.qosClass && old.status.qosClass) pod.status.qosClass = old.status.qosClass;
    keepObservedGenerations(pod, old);
    dropDisabledPodFields(pod, old, features);
  },
  validateUpdate: (pod, old, context) => validatePodStatusUpdate(pod, old, podStatusRules(context, old), context),
  warningsOnUpdate: ({ status }) => {
    const found: string[] = [];
    for (const member of ['podIPs', 'hostIPs'] as const) {
      for (const [at, { ip }] of (status[member] ?? []).entries()) {
        append(found, warningsForIp(STATUS.child(member).index(at).child('ip'), ip));
      }
    }
    return found;
  },
};

export const podStrategy: Strategy<Pod> = {
  hasStatus: true,
  replacesStatus: true,
  hasGeneration: false,
  metadataRules: { validateName: nameIsDnsSubdomain },
  prepareForCreate: (pod, context) => {
    pod.metadata.generation = 1;
    aliasServiceAccount(pod.spec);
    // kube-apiserver believes whoever says the class of a new pod.
    pod.status = { phase: 'Pending', qosClass: qosClassOf(pod) };
    dropDisabledPodFields(pod, undefined, context.features);
    if (pod.spec.schedulingGates) pod.status.conditions = [gatedCondition(context.now())];
    mergeLabelKeys(pod, context.features);
    adoptAppArmorAnnotations(pod, (text) => context.warn(text));
  },
  validate: (pod, context) => validatePodCreate(pod, podRules(context, true)),
  warningsOnCreate: (pod, { features }) => {
    const messages = isDns1123Label(pod.metadata.name ?? '');
    const hostname =
      "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended";
    return [...(messages.length > 0 ? [`${hostname}: [${messages.join(' ')}]`] : []), ...warningsForPod(pod, features)];
  },
  // kube-apiserver fills it in again when it reads what it stored: by then plugins gave the containers theirs.
  canonicalize: ({ spec }) => defaultPodResources(spec),
  prepareForUpdate: (pod, old, context) => {
    aliasServiceAccount(pod.spec);
    settle(pod, old, context);
  },
  validateUpdate: (pod, old, context, { whole }) => [
    ...whole,
    ...validatePodUpdate(pod, old, podRules(context, true, old)),
  ],
  status: podStatus,
  delete: podDeletion,
  resetFields: {
    '': [['status']],
    status: [['spec'], ['metadata', 'deletionTimestamp'], ['metadata', 'ownerReferences']],
  },
};

export const ephemeralContainersRules: StatusStrategy<Pod> = {
  tables: false,
  prepareForUpdate: (pod, old, context) => {
    const { ephemeralContainers } = pod.spec;
    resetBesideSpec(pod, old);
    pod.spec = { ...old.spec };
    if (ephemeralContainers === undefined) delete pod.spec.ephemeralContainers;
    else pod.spec.ephemeralContainers = ephemeralContainers;
    settle(pod, old, context);
  },
  validateUpdate: (pod, old, context, { whole }) => [
    ...whole,
    ...validateEphemeralContainersUpdate(pod, old, podRules(context, true, old)),
  ],
};

export const resizeRules: StatusStrategy<Pod> = {
  tables: false,
  prepareForUpdate: (pod, old, context) => {
    const { containers, initContainers } = pod.spec;
    // With other containers the update is refused; validation sees it as it came.
    const sameCount =
      (containers ?? []).length === (old.spec.containers ?? []).length &&
      (initContainers ?? []).length === (old.spec.initContainers ?? []).length;
    if (sameCount) {
      resetBesideSpec(pod, old);
      pod.spec = { ...old.spec, containers: withNewResources(containers ?? [], old.spec.containers ?? []) };
      if (initContainers) pod.spec.initContainers = withNewResources(initContainers, old.spec.initContainers ?? []);
    }
    settle(pod, old, context);
  },
  validateUpdate: (pod, old, context, { whole }) => [
    ...whole,
    ...validatePodResize(pod, old, podRules(context, true, old)),
  ],
};

/** Puts back everything outside the spec that these endpoints do not write. */
function resetBesideSpec(pod: Pod, old: Readonly<Pod>): void {
  keepMetaForStatus(pod.metadata, old.metadata);
  pod.status = old.status;
}

function settle(pod: Pod, old: Readonly<Pod>, { features }: LifeContext): void {
  dropDisabledPodFields(pod, old, features);
  if (!samePodSpec(pod.spec, old.spec)) pod.metadata.generation = (old.metadata.generation ?? 0) + 1;
}

function withNewResources(containers: readonly Container[], old: readonly Container[]): Container[] {
  if (containers.some(({ name }, position) => old[position]?.name !== name)) return [...containers];
  return containers.map(({ resources, resizePolicy }, position) => {
    const { resizePolicy: _, ...rest } = old[position] as Container;
    return { ...rest, resources, ...(resizePolicy && { resizePolicy }) };
  });
}

const gatedCondition = (now: Date): PodCondition => ({
  type: 'PodScheduled',
  status: 'False',
  lastProbeTime: null,
  lastTransitionTime: timeOf(now),
  reason: 'SchedulingGated',
  message: 'Scheduling is blocked due to non-empty scheduling gates',
});

/** Who does not know of observed generations must not erase those others have set. */
function keepObservedGenerations({ status }: Pod, old: Readonly<Pod>): void {
  if (!status.observedGeneration && old.status.observedGeneration) {
    status.observedGeneration = old.status.observedGeneration;
  }
  if (!old.status.conditions?.some(({ observedGeneration }) => observedGeneration)) return;
  const before = new Map<string, number[]>();
  for (const { type, observedGeneration = 0 } of old.status.conditions) {
    before.set(type, [...(before.get(type) ?? []), observedGeneration]);
  }
  for (const condition of status.conditions ?? []) {
    const generation = before.get(condition.type)?.shift() ?? 0;
    if (!condition.observedGeneration && generation !== 0) condition.observedGeneration = generation;
  }
}
