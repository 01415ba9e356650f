// What is accepted in a pod but probably not meant, or soon not accepted any more.
import { append } from '../../../lib/values/append.js';
import { deepEqual } from '../../../lib/values/deep-equal.js';
import { goQuote } from '../../../lib/go/quote.js';
import { FieldPath } from '../../../machinery/field-error.js';
import { warningsForIp } from '../../../machinery/validation/ip.js';
import type { ObjectMeta } from '../../../machinery/object.js';
import type { FeatureGates } from '../../../registry/kind.js';
import type {
  PersistentVolumeClaimSpec,
  Pod,
  PodAffinity,
  PodSpec,
  PodTemplateSpec,
  Volume,
} from '../../../schema/generated/core.v1.js';
import { DEPRECATED_NODE_LABELS, nodeSelectorTermWarnings } from '../shared/node-label-warnings.js';
import { appArmorProfileFor } from './apparmor.js';
import { type AnyContainer, containersWithPaths } from './containers.js';
import { portWarnings } from './port-warnings.js';
import { APPARMOR_CONTAINER_PREFIX, SECCOMP_CONTAINER_PREFIX, SECCOMP_POD } from './validation/annotations.js';
import { isWhole } from './validation/quantities.js';
import { overlappingPathWarnings } from './volume-path-overlap.js';

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

const DEPRECATED_ANNOTATIONS: readonly (readonly [string, string])[] = [
  ['scheduler.alpha.kubernetes.io/critical-pod', 'non-functional in v1.16+; use the "priorityClassName" field instead'],
  ['security.alpha.kubernetes.io/sysctls', 'non-functional in v1.11+; use the "sysctls" field instead'],
  ['security.alpha.kubernetes.io/unsafe-sysctls', 'non-functional in v1.11+; use the "sysctls" field instead'],
];

/** In the order of the warnings; `shown` where the warning's path ends otherwise than the member. */
const DEPRECATED_VOLUMES: readonly { member: keyof Volume; shown?: string; text: string }[] = [
  { member: 'photonPersistentDisk', text: 'deprecated in v1.11, non-functional in v1.16+' },
  { member: 'gitRepo', text: 'deprecated in v1.11' },
  { member: 'scaleIO', text: 'deprecated in v1.16, non-functional in v1.22+' },
  { member: 'flocker', text: 'deprecated in v1.22, non-functional in v1.25+' },
  { member: 'storageos', shown: 'storageOS', text: 'deprecated in v1.22, non-functional in v1.25+' },
  { member: 'quobyte', text: 'deprecated in v1.22, non-functional in v1.25+' },
  { member: 'glusterfs', text: 'deprecated in v1.25, non-functional in v1.26+' },
  { member: 'ephemeral', text: '' },
  { member: 'cephfs', text: 'deprecated in v1.28, non-functional in v1.31+' },
  { member: 'rbd', text: 'deprecated in v1.28, non-functional in v1.31+' },
];

const GIT_REPO_DISABLED = ', and disabled by default in v1.33+';
const SPEC = FieldPath.of('spec');
const ANNOTATIONS = FieldPath.of('metadata', 'annotations');

interface Surroundings {
  readonly path: FieldPath;
  readonly annotations: FieldPath;
  readonly isTemplate: boolean;
  readonly features: FeatureGates;
}

export const warningsForPod = ({ metadata, spec }: Readonly<Pod>, features: FeatureGates): string[] =>
  warnings(metadata, spec, { path: SPEC, annotations: ANNOTATIONS, isTemplate: false, features });

/** `path` is the template's. */
export const warningsForPodTemplate = (
  { metadata, spec }: Readonly<PodTemplateSpec>,
  path: FieldPath,
  features: FeatureGates,
): string[] =>
  warnings(metadata, spec, {
    path: path.child('spec'),
    annotations: path.child('metadata', 'annotations'),
    isTemplate: true,
    features,
  });

/** Also for claims on their own; `path` is the claim's spec. */
export function warningsForClaimSpec({ resources }: Readonly<PersistentVolumeClaimSpec>, path: FieldPath): string[] {
  return (['requests', 'limits'] as const).flatMap((kind) =>
    fractional(resources?.[kind], 'storage', path.child('resources', kind)),
  );
}

function warnings(
  meta: Readonly<ObjectMeta>,
  spec: Readonly<PodSpec>,
  { path, annotations, isTemplate, features }: Surroundings,
): string[] {
  return [
    ...nodeLabelWarnings(spec, path),
    ...spreadWarnings(spec, path.child('topologySpreadConstraints')),
    ...DEPRECATED_ANNOTATIONS.filter(([key]) => meta.annotations?.[key] !== undefined).map(
      ([key, text]) => `${annotations.key(key).toString()}: ${text}`,
    ),
    ...volumeWarnings(spec, path.child('volumes'), features),
    ...overlappingPathWarnings(spec.volumes),
    ...duplicateWarnings(spec, path),
    ...fractional(spec.overhead, 'memory', path.child('overhead')),
    ...fractional(spec.overhead, 'ephemeral-storage', path.child('overhead')),
    ...(meta.annotations?.[SECCOMP_POD] !== undefined && !spec.securityContext?.seccompProfile
      ? [seccompWarning(annotations, SECCOMP_POD)]
      : []),
    ...containersWarnings({ path, meta, spec, annotations, isTemplate }),
    ...portWarnings(spec, path),
    ...((spec.terminationGracePeriodSeconds ?? 0) < 0
      ? [
          `${path.child('terminationGracePeriodSeconds').toString()}: must be >= 0; negative values are invalid and will be treated as 1`,
        ]
      : []),
    ...affinityWarnings(spec.affinity?.podAffinity, path.child('affinity', 'podAffinity')),
    ...affinityWarnings(spec.affinity?.podAntiAffinity, path.child('affinity', 'podAntiAffinity')),
    ...addressWarnings(spec, path),
  ];
}

function addressWarnings({ dnsConfig, hostAliases }: Readonly<PodSpec>, path: FieldPath): string[] {
  const found: string[] = [];
  for (const [at, ip] of (dnsConfig?.nameservers ?? []).entries()) {
    append(found, warningsForIp(path.child('dnsConfig', 'nameservers').index(at), ip));
  }
  for (const [at, { ip }] of (hostAliases ?? []).entries()) {
    append(found, warningsForIp(path.child('hostAliases').index(at).child('ip'), ip));
  }
  return found;
}

function nodeLabelWarnings({ nodeSelector, affinity }: Readonly<PodSpec>, path: FieldPath): string[] {
  const found: string[] = [];
  for (const key of Object.keys(nodeSelector ?? {}).sort()) {
    const text = DEPRECATED_NODE_LABELS.get(key);
    if (text !== undefined) found.push(`${path.child('nodeSelector').key(key).toString()}: ${text}`);
  }
  const nodes = affinity?.nodeAffinity;
  const at = path.child('affinity', 'nodeAffinity');
  for (const [position, term] of (nodes?.[REQUIRED]?.nodeSelectorTerms ?? []).entries()) {
    append(found, nodeSelectorTermWarnings(term, false, at.child(REQUIRED, 'nodeSelectorTerms').index(position)));
  }
  for (const [position, { preference }] of (nodes?.[PREFERRED] ?? []).entries()) {
    append(found, nodeSelectorTermWarnings(preference, true, at.child(PREFERRED).index(position).child('preference')));
  }
  return found;
}

function spreadWarnings({ topologySpreadConstraints }: Readonly<PodSpec>, path: FieldPath): string[] {
  const found: string[] = [];
  for (const [position, { topologyKey, labelSelector }] of (topologySpreadConstraints ?? []).entries()) {
    const at = path.index(position);
    const text = DEPRECATED_NODE_LABELS.get(topologyKey);
    if (text !== undefined) found.push(`${at.child('topologyKey').toString()}: ${topologyKey} is ${text}`);
    if (labelSelector === undefined) found.push(nullSelector(at));
  }
  return found;
}

const nullSelector = (path: FieldPath): string =>
  `${path.child('labelSelector').toString()}: a null labelSelector results in matching no pod`;

function affinityWarnings(affinity: Readonly<PodAffinity> | undefined, path: FieldPath): string[] {
  const found: string[] = [];
  for (const [position, { labelSelector }] of (affinity?.[REQUIRED] ?? []).entries()) {
    if (labelSelector === undefined) found.push(nullSelector(path.child(REQUIRED).index(position)));
  }
  for (const [position, { podAffinityTerm }] of (affinity?.[PREFERRED] ?? []).entries()) {
    if (podAffinityTerm.labelSelector !== undefined) continue;
    found.push(nullSelector(path.child(PREFERRED).index(position).child('podAffinityTerm')));
  }
  return found;
}

function volumeWarnings({ volumes }: Readonly<PodSpec>, path: FieldPath, features: FeatureGates): string[] {
  const found: string[] = [];
  for (const [position, volume] of (volumes ?? []).entries()) {
    const at = path.index(position);
    for (const { member, shown, text } of DEPRECATED_VOLUMES) {
      if (volume[member] === undefined) continue;
      const disabled = member === 'gitRepo' && !features.enabled('GitRepoVolumeDriver') ? GIT_REPO_DISABLED : '';
      if (member !== 'ephemeral') found.push(`${at.child(shown ?? member).toString()}: ${text}${disabled}`);
      else if (volume.ephemeral?.volumeClaimTemplate) {
        const { spec } = volume.ephemeral.volumeClaimTemplate;
        append(found, warningsForClaimSpec(spec, at.child('ephemeral', 'volumeClaimTemplate', 'spec')));
      }
    }
  }
  return found;
}

function duplicateWarnings({ hostAliases = [], imagePullSecrets = [] }: Readonly<PodSpec>, path: FieldPath): string[] {
  const found: string[] = [];
  if (hostAliases.length + imagePullSecrets.length === 0) return found;
  const addresses = new Set<string>();
  for (const [position, { ip }] of hostAliases.entries()) {
    const at = path.child('hostAliases').index(position).child('ip');
    if (addresses.has(ip)) found.push(`${at.toString()}: duplicate ip ${goQuote(ip)}`);
    addresses.add(ip);
  }
  const secretPath = (position: number): string =>
    path.child('imagePullSecrets').index(position).child('name').toString();
  const names = new Set<string>();
  for (const [position, { name = '' }] of imagePullSecrets.entries()) {
    if (names.has(name)) found.push(`${secretPath(position)}: duplicate name ${goQuote(name)}`);
    names.add(name);
  }
  for (const [position, { name = '' }] of imagePullSecrets.entries()) {
    if (name === '') found.push(`${secretPath(position)}: invalid empty name ""`);
  }
  return found;
}

/** A byte cannot be divided; such a quantity is mostly a wrong suffix. */
function fractional(list: Readonly<Record<string, string>> | undefined, name: string, path: FieldPath): string[] {
  const quantity = list?.[name];
  if (quantity === undefined || isWhole(quantity)) return [];
  return [`${path.key(name).toString()}: fractional byte value ${goQuote(quantity)} is invalid, must be an integer`];
}

const seccompWarning = (annotations: FieldPath, key: string): string =>
  `${annotations.key(key).toString()}: non-functional in v1.27+; use the "seccompProfile" field instead`;

interface ContainerPlace {
  readonly path: FieldPath;
  readonly meta: Readonly<ObjectMeta>;
  readonly spec: Readonly<PodSpec>;
  readonly annotations: FieldPath;
  readonly isTemplate: boolean;
}

function containersWarnings(place: ContainerPlace): string[] {
  const found: string[] = [];
  for (const [container, path] of containersWithPaths(place.spec, place.path)) {
    append(found, containerWarnings(container, { ...place, path }));
  }
  return found;
}

function containerWarnings(
  container: Readonly<AnyContainer>,
  { path, meta, spec, annotations, isTemplate }: ContainerPlace,
): string[] {
  const found: string[] = [];
  const { resources, securityContext, name } = container;
  const seccompKey = SECCOMP_CONTAINER_PREFIX + name;
  if (!securityContext?.seccompProfile && meta.annotations?.[seccompKey] !== undefined) {
    found.push(seccompWarning(annotations, seccompKey));
  }
  // A pod's own annotations give their warnings where they become fields.
  const appArmorKey = APPARMOR_CONTAINER_PREFIX + name;
  const profile = meta.annotations?.[appArmorKey];
  if (isTemplate && !securityContext?.appArmorProfile && profile !== undefined) {
    const ofPod = spec.securityContext?.appArmorProfile;
    if (!ofPod || !deepEqual(ofPod, appArmorProfileFor(profile))) {
      found.push(
        `${annotations.key(appArmorKey).toString()}: deprecated since v1.30; use the "appArmorProfile" field instead`,
      );
    }
  }
  for (const resource of ['memory', 'ephemeral-storage']) {
    append(found, fractional(resources.limits, resource, path.child('resources', 'limits')));
    append(found, fractional(resources.requests, resource, path.child('resources', 'requests')));
  }
  append(found, hiddenVariables(container, path.child('env')));
  return found;
}

/** A variable that is set twice hides the first, unless its value builds on it. */
function hiddenVariables({ env }: Readonly<AnyContainer>, path: FieldPath): string[] {
  const found: string[] = [];
  const names = new Set<string>();
  for (const [position, { name, value = '', valueFrom }] of (env ?? []).entries()) {
    const reference = `$(${name})`;
    const extends_ = valueFrom === undefined && value !== reference && value.includes(reference);
    if (names.has(name) && !extends_) {
      const at = path.index(position).toString();
      found.push(`${at}: hides previous definition of ${goQuote(name)}, which may be dropped when using apply`);
    }
    names.add(name);
  }
  return found;
}
