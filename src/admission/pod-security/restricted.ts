// The restricted level: the baseline and, beyond it, today's practice of hardening. In the order they are reported.
import { allContainers } from '../../apis/core/pod/containers.js';
import type { Volume } from '../../schema/generated/core.v1.js';
import {
  type CheckedPod,
  containersText,
  isInUserNamespace,
  namesOfContainers,
  plural,
  quoted,
  settersText,
  sortedSet,
  unlessWindows,
  type VersionedCheck,
  type Violation,
} from './check.js';
import { seccompFields } from './seccomp.js';

const demandSeccomp = (pod: CheckedPod): Violation | undefined => seccompFields(pod, true);

export const restrictedChecks: readonly VersionedCheck[] = [
  {
    id: 'allowPrivilegeEscalation',
    rules: [
      { sinceMinor: 8, check: allowPrivilegeEscalation },
      { sinceMinor: 25, check: unlessWindows(allowPrivilegeEscalation) },
    ],
  },
  {
    id: 'capabilities_restricted',
    rules: [
      { sinceMinor: 22, check: capabilities, replaces: 'capabilities_baseline' },
      { sinceMinor: 25, check: unlessWindows(capabilities), replaces: 'capabilities_baseline' },
    ],
  },
  {
    id: 'restrictedVolumes',
    rules: [{ sinceMinor: 0, check: restrictedVolumes, replaces: 'hostPathVolumes' }],
  },
  {
    id: 'runAsNonRoot',
    rules: [
      { sinceMinor: 0, check: (pod, features) => (isInUserNamespace(pod, features) ? undefined : runAsNonRoot(pod)) },
    ],
  },
  {
    id: 'runAsUser',
    rules: [
      { sinceMinor: 23, check: (pod, features) => (isInUserNamespace(pod, features) ? undefined : runAsUser(pod)) },
    ],
  },
  {
    id: 'seccompProfile_restricted',
    rules: [
      { sinceMinor: 19, check: demandSeccomp, replaces: 'seccompProfile_baseline' },
      { sinceMinor: 25, check: unlessWindows(demandSeccomp), replaces: 'seccompProfile_baseline' },
    ],
  },
];

function allowPrivilegeEscalation(pod: CheckedPod): Violation | undefined {
  const containers = namesOfContainers(
    pod,
    ({ securityContext }) => securityContext?.allowPrivilegeEscalation !== false,
  );
  if (containers.length === 0) return undefined;
  const detail = `${containersText(containers)} must set securityContext.allowPrivilegeEscalation=false`;
  return { reason: 'allowPrivilegeEscalation != false', detail };
}

function capabilities(pod: CheckedPod): Violation | undefined {
  const added = (container: ReturnType<typeof allContainers>[number]): string[] =>
    (container.securityContext?.capabilities?.add ?? []).filter((name) => name !== 'NET_BIND_SERVICE');
  const keeping = namesOfContainers(
    pod,
    ({ securityContext }) => !(securityContext?.capabilities?.drop ?? []).includes('ALL'),
  );
  const adding = namesOfContainers(pod, (container) => added(container).length > 0);
  const details: string[] = [];
  if (keeping.length > 0) {
    details.push(`${containersText(keeping)} must set securityContext.capabilities.drop=["ALL"]`);
  }
  if (adding.length > 0) {
    const names = quoted(sortedSet(allContainers(pod.spec).flatMap(added)));
    details.push(`${containersText(adding)} must not include ${names} in securityContext.capabilities.add`);
  }
  return details.length === 0 ? undefined : { reason: 'unrestricted capabilities', detail: details.join('; ') };
}

const VOLUMES = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'image',
  'persistentVolumeClaim',
  'projected',
  'secret',
] as (keyof Volume)[];

function restrictedVolumes({ spec }: CheckedPod): Violation | undefined {
  const wrong = (spec.volumes ?? []).filter((volume) => !VOLUMES.some((type) => volume[type]));
  if (wrong.length === 0) return undefined;
  const names = wrong.map(({ name }) => name);
  const types = sortedSet(wrong.map((volume) => Object.keys(volume).find((key) => key !== 'name') ?? 'unknown'));
  const use = `${names.length === 1 ? 'uses' : 'use'} ${plural('restricted volume type', types.length)}`;
  const detail = `${plural('volume', names.length)} ${quoted(names)} ${use} ${quoted(types)}`;
  return { reason: 'restricted volume types', detail };
}

function runAsNonRoot(pod: CheckedPod): Violation | undefined {
  const reason = 'runAsNonRoot != true';
  const ofPod = pod.spec.securityContext?.runAsNonRoot;
  const refusing = namesOfContainers(pod, ({ securityContext }) => securityContext?.runAsNonRoot === false);
  if (ofPod === false || refusing.length > 0) {
    const setters = settersText(ofPod === false, refusing);
    return { reason, detail: `${setters} must not set securityContext.runAsNonRoot=false` };
  }
  if (ofPod === true) return undefined;
  const silent = namesOfContainers(pod, ({ securityContext }) => securityContext?.runAsNonRoot === undefined);
  if (silent.length === 0) return undefined;
  return { reason, detail: `pod or ${containersText(silent)} must set securityContext.runAsNonRoot=true` };
}

function runAsUser(pod: CheckedPod): Violation | undefined {
  const ofPod = pod.spec.securityContext?.runAsUser === 0;
  const containers = namesOfContainers(pod, ({ securityContext }) => securityContext?.runAsUser === 0);
  if (!ofPod && containers.length === 0) return undefined;
  return { reason: 'runAsUser=0', detail: `${settersText(ofPod, containers)} must not set runAsUser=0` };
}
