import { append } from '../../../../lib/values/append.js';
import { internalValue } from '../../internal-form/internal-value.js';
import {
  duplicate,
  type FieldErrors,
  FieldPath,
  forbidden,
  invalid,
  notFound,
  notSupported,
  required,
  tooLong,
} from '../../../../machinery/field-error.js';
import type { ObjectMeta } from '../../../../machinery/object.js';
import { invalidEach } from '../../../../machinery/validation/fields.js';
import { isValidIpForLegacyField } from '../../../../machinery/validation/ip.js';
import { validateLabels } from '../../../../machinery/validation/label-selector.js';
import { isDns1123Subdomain, rangeMessage } from '../../../../machinery/validation/names.js';
import type { HostAlias, PodResourceClaim, PodSchedulingGate, PodSpec } from '../../../../schema/generated/core.v1.js';
import { containersWithPaths } from '../containers.js';
import { validateAffinity } from './affinity.js';
import { MIRROR_POD } from './annotations.js';
import {
  type ContainerSurroundings,
  validateContainers,
  validateEphemeralContainers,
  validateInitContainers,
} from './containers.js';
import { validateDnsConfig } from './dns.js';
import { withEnvNameRule } from './env.js';
import { validateDnsLabel, validateDnsSubdomain, validateQualifiedName } from './names.js';
import type { PodRules } from './pod-rules.js';
import { claimNamesOf, validateContainerResources, validatePodResources } from './resources.js';
import { validatePodSecurityContext } from './security-context.js';
import { validateTolerations } from './tolerations.js';
import { validateTopologySpread } from './topology-spread.js';
import { validateVolumes } from './volumes.js';
import { validateHostProcess, validateLinuxPod, validateWindowsPod } from './windows.js';

export const MAX_INT32 = 2 ** 31 - 1;
const RESTART_POLICIES = ['Always', 'OnFailure', 'Never'];
const DNS_POLICIES = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];
const PREEMPTION_POLICIES = ['PreemptLowerPriority', 'Never'];
const OPERATING_SYSTEMS = ['linux', 'windows'];
const MAX_HOSTNAME_LENGTH = 64;

/** `meta` is the pod's; templates have none that matters to their spec. */
export function validatePodSpec(
  spec: Readonly<PodSpec>,
  meta: Readonly<ObjectMeta> | undefined,
  path: FieldPath,
  given: PodRules,
): FieldErrors {
  const rules = withEnvNameRule(given, spec);
  const { valid: volumes, errors: volumeErrors } = validateVolumes(spec.volumes, meta, path.child('volumes'), rules);
  const claimNames = claimNamesOf(spec.resourceClaims);
  const around: ContainerSurroundings = { spec, volumes, claimNames, rules };
  return [
    ...(spec.terminationGracePeriodSeconds === undefined
      ? [required(path.child('terminationGracePeriodSeconds'))]
      : []),
    ...volumeErrors,
    ...validateResourceClaims(spec.resourceClaims, meta, path.child('resourceClaims')),
    ...validateContainers(around, path.child('containers')),
    ...validateInitContainers(around, path.child('initContainers')),
    ...validateEphemeralContainers(around, path.child('ephemeralContainers')),
    ...(rules.podLevelResources ? validatePodResources(spec, claimNames, path, rules) : []),
    ...validateHostNetworkPorts(spec, path, rules),
    ...validateChoice(spec.restartPolicy, RESTART_POLICIES, path.child('restartPolicy')),
    ...validateChoice(spec.dnsPolicy, DNS_POLICIES, path.child('dnsPolicy')),
    ...validateLabels(spec.nodeSelector, path.child('nodeSelector')),
    ...validatePodSecurityContext(spec, path.child('securityContext'), rules),
    ...validateAffinity(spec.affinity, path.child('affinity'), rules),
    ...validateDnsConfig(spec, path.child('dnsConfig'), rules),
    ...validateReadinessGates(spec, path.child('readinessGates')),
    ...validateSchedulingGates(spec.schedulingGates, path.child('schedulingGates')),
    ...validateTopologySpread(spec.topologySpreadConstraints, path.child('topologySpreadConstraints'), rules),
    ...validateHostProcess(spec, path, rules),
    ...validateUserNamespace(spec, path, rules),
    ...validateHostnameOverride(spec, path.child('hostnameOverride')),
    ...validateReferences(spec, path),
    ...validateNaming(spec, path, rules),
    ...validateClasses(spec, path),
    ...validateOverhead(spec, path.child('overhead'), rules),
    ...validateOperatingSystem(spec, path),
    ...validateEnvFileVolumes(spec, path),
  ];
}

function validateChoice(value: string | undefined, choices: readonly string[], path: FieldPath): FieldErrors {
  if (!value) return [required(path)];
  return choices.includes(value) ? [] : [notSupported(path, value, choices)];
}

function validateResourceClaims(
  claims: readonly PodResourceClaim[] | undefined,
  meta: Readonly<ObjectMeta> | undefined,
  path: FieldPath,
): FieldErrors {
  if (claims === undefined) return [];
  if (meta?.annotations?.[MIRROR_POD] !== undefined) {
    return claims.map(() => forbidden(FieldPath.of(''), 'static pods do not support resource claims'));
  }
  const errors: FieldErrors = [];
  const names = new Set<string>();
  for (const [position, claim] of claims.entries()) {
    const at = path.index(position);
    const { name, resourceClaimName, resourceClaimTemplateName } = claim;
    if (name === '') errors.push(required(at.child('name')));
    else if (names.has(name)) errors.push(duplicate(at.child('name'), name));
    else {
      append(errors, validateDnsLabel(name, at.child('name')));
      names.add(name);
    }
    const shown = (): unknown => internalValue('PodResourceClaim', claim);
    if (resourceClaimName !== undefined && resourceClaimTemplateName !== undefined) {
      const why = 'at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified';
      errors.push(invalid(at, shown(), why));
    }
    if (resourceClaimName === undefined && resourceClaimTemplateName === undefined) {
      const why = 'must specify one of: `resourceClaimName`, `resourceClaimTemplateName`';
      errors.push(invalid(at, shown(), why));
    }
    if (resourceClaimName !== undefined) {
      append(errors, validateDnsSubdomain(resourceClaimName, at.child('resourceClaimName')));
    }
    if (resourceClaimTemplateName !== undefined) {
      append(errors, validateDnsSubdomain(resourceClaimTemplateName, at.child('resourceClaimTemplateName')));
    }
  }
  return errors;
}

/** On the host's network a container's port is the host's. A template may still leave the host's port to defaults. */
function validateHostNetworkPorts(spec: Readonly<PodSpec>, path: FieldPath, rules: PodRules): FieldErrors {
  if (!spec.hostNetwork) return [];
  const errors: FieldErrors = [];
  for (const [position, { ports }] of (spec.containers ?? []).entries()) {
    const portsPath = path.child('containers').index(position).child('ports');
    for (const [at, { hostPort = 0, containerPort }] of (ports ?? []).entries()) {
      if ((!rules.isPod && hostPort === 0) || hostPort === containerPort) continue;
      const why = 'must match `containerPort` when `hostNetwork` is true';
      errors.push(invalid(portsPath.index(at).child('hostPort'), hostPort, why));
    }
  }
  return errors;
}

function validateReadinessGates({ readinessGates }: Readonly<PodSpec>, path: FieldPath): FieldErrors {
  const errors: FieldErrors = [];
  for (const [position, { conditionType }] of (readinessGates ?? []).entries()) {
    append(errors, validateQualifiedName(conditionType, path.index(position).child('conditionType')));
  }
  return errors;
}

function validateSchedulingGates(gates: readonly PodSchedulingGate[] | undefined, path: FieldPath): FieldErrors {
  const errors: FieldErrors = [];
  const seen = new Set<string>();
  for (const [position, { name }] of (gates ?? []).entries()) {
    append(errors, validateQualifiedName(name, path.index(position)));
    if (seen.has(name)) errors.push(duplicate(path.index(position), name));
    seen.add(name);
  }
  return errors;
}

/** A pod with its own users shares no other namespace with its host. */
function validateUserNamespace(spec: Readonly<PodSpec>, path: FieldPath, rules: PodRules): FieldErrors {
  if (spec.hostUsers !== false) return [];
  const why = 'when `hostUsers` is false';
  const errors: FieldErrors = [];
  if (spec.hostNetwork) errors.push(forbidden(path.child('hostNetwork'), why));
  if (spec.hostPID) errors.push(forbidden(path.child('HostPID'), why));
  if (spec.hostIPC) errors.push(forbidden(path.child('HostIPC'), why));
  if (rules.allowUserNamespaceDevices) return errors;
  for (const [container, at] of containersWithPaths(spec, path)) {
    if (container.volumeDevices) errors.push(forbidden(at.child('volumeDevices'), why));
  }
  return errors;
}

function validateHostnameOverride(
  { hostnameOverride, setHostnameAsFQDN, hostNetwork }: Readonly<PodSpec>,
  path: FieldPath,
): FieldErrors {
  if (hostnameOverride === undefined) return [];
  const errors: FieldErrors = [];
  if (setHostnameAsFQDN) errors.push(forbidden(path, 'may not be specified when setHostnameAsFQDN is true'));
  if (hostNetwork) errors.push(forbidden(path, 'may not be specified when hostNetwork is true'));
  if (hostnameOverride.length > MAX_HOSTNAME_LENGTH) errors.push(tooLong(path, MAX_HOSTNAME_LENGTH));
  append(errors, validateDnsSubdomain(hostnameOverride, path));
  return errors;
}

function validateReferences(spec: Readonly<PodSpec>, path: FieldPath): FieldErrors {
  const { serviceAccountName, nodeName, activeDeadlineSeconds: deadline } = spec;
  const errors: FieldErrors = [];
  if (serviceAccountName) append(errors, validateDnsSubdomain(serviceAccountName, path.child('serviceAccountName')));
  if (nodeName) append(errors, validateDnsSubdomain(nodeName, path.child('nodeName')));
  if (deadline !== undefined && (deadline < 1 || deadline > MAX_INT32)) {
    errors.push(invalid(path.child('activeDeadlineSeconds'), deadline, rangeMessage(1, MAX_INT32)));
  }
  return errors;
}

function validateNaming(spec: Readonly<PodSpec>, path: FieldPath, rules: PodRules): FieldErrors {
  const errors: FieldErrors = [];
  if (spec.hostname) append(errors, validateDnsLabel(spec.hostname, path.child('hostname')));
  if (spec.subdomain) append(errors, validateDnsLabel(spec.subdomain, path.child('subdomain')));
  append(
    errors,
    validateTolerations(spec.tolerations, path.child('tolerations')),
    validateHostAliases(spec.hostAliases, path.child('hostAliases'), rules),
  );
  return errors;
}

function validateHostAliases(aliases: readonly HostAlias[] | undefined, path: FieldPath, rules: PodRules): FieldErrors {
  const errors: FieldErrors = [];
  for (const [position, { ip, hostnames }] of (aliases ?? []).entries()) {
    const at = path.index(position);
    append(errors, isValidIpForLegacyField(at.child('ip'), ip, { strict: rules.strictAddresses }));
    for (const [index, hostname] of (hostnames ?? []).entries()) {
      append(errors, validateDnsSubdomain(hostname, at.child('hostnames').index(index)));
    }
  }
  return errors;
}

function validateClasses(spec: Readonly<PodSpec>, path: FieldPath): FieldErrors {
  const { priorityClassName, runtimeClassName, preemptionPolicy } = spec;
  const errors: FieldErrors = [];
  if (priorityClassName) append(errors, validateDnsSubdomain(priorityClassName, path.child('priorityClassName')));
  if (runtimeClassName !== undefined) {
    const at = path.child('runtimeClassName');
    append(errors, invalidEach(at, runtimeClassName, isDns1123Subdomain(runtimeClassName)));
  }
  if (preemptionPolicy !== undefined) {
    append(errors, validateChoice(preemptionPolicy, PREEMPTION_POLICIES, path.child('preemptionPolicy')));
  }
  return errors;
}

const NO_CLAIMS: ReadonlySet<string> = new Set();

const validateOverhead = ({ overhead }: Readonly<PodSpec>, path: FieldPath, rules: PodRules): FieldErrors =>
  overhead === undefined ? [] : validateContainerResources({ limits: overhead }, NO_CLAIMS, path, rules);

function validateOperatingSystem(spec: Readonly<PodSpec>, path: FieldPath): FieldErrors {
  if (spec.os === undefined) return [];
  const { name } = spec.os;
  if (name === '') return [required(path.child('os', 'name'))];
  if (!OPERATING_SYSTEMS.includes(name)) return [notSupported(path.child('os'), name, OPERATING_SYSTEMS)];
  return name === 'linux' ? validateLinuxPod(spec, path) : validateWindowsPod(spec, path);
}

/** Variables read from files find them in an empty directory that an init container filled. */
function validateEnvFileVolumes(spec: Readonly<PodSpec>, path: FieldPath): FieldErrors {
  const errors: FieldErrors = [];
  for (const [container, at] of containersWithPaths(spec, path)) {
    for (const [position, { valueFrom }] of (container.env ?? []).entries()) {
      const volumeName = valueFrom?.fileKeyRef?.volumeName;
      if (volumeName === undefined) continue;
      const volumePath = at.child('env').index(position).child('valueFrom', 'fileKeyRef', 'volumeName');
      const volume = (spec.volumes ?? []).findLast(({ name }) => name === volumeName);
      if (volume === undefined) errors.push(notFound(volumePath, volumeName));
      else if (!volume.emptyDir) {
        errors.push(invalid(volumePath, volumeName, 'referenced volume must be of type emptyDir'));
      }
    }
  }
  return errors;
}
