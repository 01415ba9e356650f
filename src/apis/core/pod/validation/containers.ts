import { append } from '../../../../lib/values/append.js';
import { internalList } from '../../internal-form/internal-value.js';
import {
  duplicate,
  type FieldErrors,
  type FieldPath,
  forbidden,
  invalid,
  notFound,
  notSupported,
  required,
  tooLong,
  named,
} from '../../../../machinery/field-error.js';
import { explicitEmptyOf, wasExplicitEmpty } from '../../../../machinery/explicit-empty.js';
import { invalidEach } from '../../../../machinery/validation/fields.js';
import { isValidPortName, isValidPortNum } from '../../../../machinery/validation/names.js';
import type {
  Container,
  ContainerPort,
  ContainerResizePolicy,
  EphemeralContainer,
  PodSpec,
} from '../../../../schema/generated/core.v1.js';
import { type AnyContainer, isSidecar } from '../containers.js';
import { validateEnv, validateEnvFrom } from './env.js';
import { validateLifecycle, validateProbes } from './handlers.js';
import { validateVolumeDevices, validateVolumeMounts } from './mounts.js';
import { validateDnsLabel } from './names.js';
import type { PodRules } from './pod-rules.js';
import { validatePullPolicy } from './pull-policy.js';
import { validateContainerResources } from './resources.js';
import { validateSecurityContext } from './security-context.js';
import type { ValidVolumes } from './volumes.js';

/** What the containers of a pod are checked against. */
export interface ContainerSurroundings {
  readonly spec: Readonly<PodSpec>;
  readonly volumes: ValidVolumes;
  readonly claimNames: ReadonlySet<string>;
  readonly rules: PodRules;
}

export function validateContainers(around: ContainerSurroundings, path: FieldPath): FieldErrors {
  const { spec, rules } = around;
  const containers = spec.containers ?? [];
  if (containers.length === 0) return [required(path)];
  const errors: FieldErrors = [];
  const names = new Set<string>();
  for (const [position, container] of containers.entries()) {
    const at = path.index(position);
    append(errors, validateContainer(container, around, at));
    if (names.has(container.name)) errors.push(duplicate(at.child('name'), container.name));
    names.add(container.name);
    append(errors, validateHooksAndProbes(container, around, at));
    if (rules.restartRules) append(errors, validateRestartPolicy(container, at));
    else if (container.restartPolicy !== undefined) {
      errors.push(forbidden(at.child('restartPolicy'), 'may not be set for non-init containers'));
    }
  }
  append(errors, validateHostPorts(containers, path));
  return errors;
}

export function validateInitContainers(around: ContainerSurroundings, path: FieldPath): FieldErrors {
  const { spec, rules } = around;
  const errors: FieldErrors = [];
  const names = new Set((spec.containers ?? []).map(({ name }) => name));
  for (const [position, container] of (spec.initContainers ?? []).entries()) {
    const at = path.index(position);
    append(errors, validateContainer(container, around, at), validateInitRestartPolicy(container, at, rules));
    if (names.has(container.name)) errors.push(duplicate(at.child('name'), container.name));
    else if (container.name !== '') names.add(container.name);
    // Init containers run one after another, so only ports of the same one can clash.
    append(errors, validateHostPorts([container], path));
    if (isSidecar(container)) append(errors, validateHooksAndProbes(container, around, at));
    else {
      for (const member of ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'] as const) {
        if (container[member] === undefined) continue;
        errors.push(forbidden(at.child(member), 'may not be set for init containers without restartPolicy=Always'));
      }
    }
    if (!rules.sidecarResizePolicy && container.resizePolicy) {
      const shown = internalList('ContainerResizePolicy', container.resizePolicy);
      errors.push(invalid(at.child('resizePolicy'), shown, 'must not be set for init containers'));
    }
  }
  return errors;
}

/** In the order of the errors. */
const NOT_FOR_EPHEMERAL = [
  'ports',
  'resources',
  'resizePolicy',
  'restartPolicy',
  'restartPolicyRules',
  'livenessProbe',
  'readinessProbe',
  'startupProbe',
  'lifecycle',
] as const;
const EPHEMERAL = 'cannot be set for an Ephemeral Container';

export function validateEphemeralContainers(around: ContainerSurroundings, path: FieldPath): FieldErrors {
  const { spec } = around;
  if (spec.ephemeralContainers === undefined) return [];
  const errors: FieldErrors = [];
  const others = new Set([...(spec.containers ?? []), ...(spec.initContainers ?? [])].map(({ name }) => name));
  const names = new Set(others);
  for (const [position, container] of spec.ephemeralContainers.entries()) {
    const at = path.index(position);
    append(errors, validateContainer(container, around, at), validateImagePadding(container, at));
    if (names.has(container.name)) errors.push(duplicate(at.child('name'), container.name));
    names.add(container.name);
    const target = container.targetContainerName;
    if (target && !others.has(target)) errors.push(notFound(at.child('targetContainerName'), target));
    append(errors, validateEphemeralMembers(container, at));
  }
  return errors;
}

export const validateImagePadding = ({ image = '' }: Readonly<AnyContainer>, path: FieldPath): FieldErrors =>
  image === image.trim() ? [] : [invalid(path.child('image'), image, 'must not have leading or trailing whitespace')];

function validateEphemeralMembers(container: Readonly<EphemeralContainer>, path: FieldPath): FieldErrors {
  const errors: FieldErrors = [];
  for (const member of NOT_FOR_EPHEMERAL) {
    if (isGiven(container, member)) errors.push(forbidden(path.child(member), EPHEMERAL));
  }
  for (const [position, mount] of (container.volumeMounts ?? []).entries()) {
    const at = path.child('volumeMounts').index(position);
    if (mount.subPath) errors.push(forbidden(at.child('subPath'), EPHEMERAL));
    if (mount.subPathExpr) errors.push(forbidden(at.child('subPathExpr'), EPHEMERAL));
  }
  return errors;
}

/** An empty list counts as present. Resources are always there: what counts is what stands in them. */
function isGiven(container: Readonly<EphemeralContainer>, member: (typeof NOT_FOR_EPHEMERAL)[number]): boolean {
  if (member !== 'resources') return container[member] !== undefined || wasExplicitEmpty(container, member);
  const { resources } = container;
  return Object.keys(resources).length > 0 || explicitEmptyOf(resources) !== undefined;
}

const MESSAGE_POLICIES = ['File', 'FallbackToLogsOnError'];

/** The rules of every container. */
function validateContainer(
  container: Readonly<AnyContainer>,
  around: ContainerSurroundings,
  path: FieldPath,
): FieldErrors {
  const { spec, volumes, claimNames, rules } = around;
  const errors: FieldErrors = [];
  if (container.name === '') errors.push(required(path.child('name')));
  else append(errors, validateDnsLabel(container.name, path.child('name')));
  if (!container.image) errors.push(required(path.child('image')));
  const messagePolicy = container.terminationMessagePolicy;
  if (!messagePolicy) errors.push(required(path.child('terminationMessagePolicy')));
  else if (!MESSAGE_POLICIES.includes(messagePolicy)) {
    errors.push(notSupported(path.child('terminationMessagePolicy'), messagePolicy, MESSAGE_POLICIES));
  }
  append(
    errors,
    validatePorts(container.ports, path.child('ports')),
    validateEnv(container.env, path.child('env'), rules),
    validateEnvFrom(container.envFrom, path.child('envFrom'), rules),
    validateVolumeMounts(container, volumes, path.child('volumeMounts')),
    validateVolumeDevices(container, volumes, path.child('volumeDevices')),
    validatePullPolicy(container.imagePullPolicy, path.child('imagePullPolicy')),
    validateContainerResources(container.resources, claimNames, path.child('resources'), rules),
    validateResizePolicy(container.resizePolicy, spec.restartPolicy, path.child('resizePolicy')),
    validateSecurityContext(container.securityContext, spec.hostUsers !== false, path.child('securityContext'), rules),
  );
  return errors;
}

function validateHooksAndProbes(
  container: Readonly<Container>,
  { spec, rules }: ContainerSurroundings,
  path: FieldPath,
): FieldErrors {
  const grace = spec.terminationGracePeriodSeconds;
  const { lifecycle } = container;
  return [
    ...(lifecycle ? validateLifecycle(lifecycle, { grace, os: spec.os, rules }, path.child('lifecycle')) : []),
    ...validateProbes(container, path),
  ];
}

const PROTOCOLS = ['SCTP', 'TCP', 'UDP'];

function validatePorts(ports: readonly ContainerPort[] | undefined, path: FieldPath): FieldErrors {
  const errors: FieldErrors = [];
  const names = new Set<string>();
  for (const [position, port] of (ports ?? []).entries()) {
    const at = path.index(position);
    if (port.name) {
      const messages = isValidPortName(port.name);
      if (messages.length > 0) append(errors, invalidEach(at.child('name'), port.name, messages));
      else if (names.has(port.name)) errors.push(duplicate(at.child('name'), port.name));
      else names.add(port.name);
    }
    if (port.containerPort === 0) errors.push(required(at.child('containerPort')));
    else append(errors, invalidEach(at.child('containerPort'), port.containerPort, isValidPortNum(port.containerPort)));
    if (port.hostPort) append(errors, invalidEach(at.child('hostPort'), port.hostPort, isValidPortNum(port.hostPort)));
    if (!port.protocol) errors.push(required(at.child('protocol')));
    else if (!PROTOCOLS.includes(port.protocol)) {
      errors.push(notSupported(at.child('protocol'), port.protocol, PROTOCOLS));
    }
  }
  return errors;
}

function validateHostPorts(containers: readonly Container[], path: FieldPath): FieldErrors {
  const errors: FieldErrors = [];
  const seen = new Set<string>();
  for (const [position, { ports }] of containers.entries()) {
    for (const [at, { protocol = '', hostIP = '', hostPort }] of (ports ?? []).entries()) {
      if (!hostPort) continue;
      const port = `${protocol}/${hostIP}/${hostPort}`;
      if (seen.has(port)) {
        errors.push(duplicate(path.index(position).child('ports').index(at).child('hostPort'), port));
      } else seen.add(port);
    }
  }
  return errors;
}

const RESIZABLE = ['cpu', 'memory'];
const RESIZE_POLICIES = ['NotRequired', 'RestartContainer'];

function validateResizePolicy(
  policies: readonly ContainerResizePolicy[] | undefined,
  podRestartPolicy: string | undefined,
  path: FieldPath,
): FieldErrors {
  const errors: FieldErrors = [];
  const seen = new Set<string>();
  for (const [position, { resourceName, restartPolicy }] of (policies ?? []).entries()) {
    if (seen.has(resourceName)) errors.push(duplicate(path.index(position), named(resourceName)));
    seen.add(resourceName);
    if (resourceName === '') errors.push(required(path));
    else if (!RESIZABLE.includes(resourceName)) errors.push(notSupported(path, resourceName, RESIZABLE));
    if (restartPolicy === '') errors.push(required(path));
    else if (!RESIZE_POLICIES.includes(restartPolicy)) errors.push(notSupported(path, restartPolicy, RESIZE_POLICIES));
    if (podRestartPolicy === 'Never' && restartPolicy !== 'NotRequired') {
      errors.push(invalid(path, named(restartPolicy), "must be 'NotRequired' when `restartPolicy` is 'Never'"));
    }
  }
  return errors;
}

const RESTART_POLICIES = ['Always', 'Never', 'OnFailure'];
const EXIT_CODE_OPERATORS = ['In', 'NotIn'];
const MAX_RESTART_RULES = 20;
const MAX_EXIT_CODES = 255;

function validateInitRestartPolicy(container: Readonly<Container>, path: FieldPath, rules: PodRules): FieldErrors {
  const { restartPolicy, restartPolicyRules } = container;
  if (restartPolicy === undefined) return [];
  if (restartPolicy !== 'Always') {
    if (rules.restartRules) return validateRestartPolicy(container, path);
    return [notSupported(path.child('restartPolicy'), restartPolicy, ['Always'])];
  }
  if (!rules.restartRules || !restartPolicyRules) return [];
  const why = 'restartPolicyRules are not allowed for init containers with restart policy Always';
  return [forbidden(path.child('restartPolicyRules'), why)];
}

function validateRestartPolicy(
  { restartPolicy, restartPolicyRules = [] }: Readonly<Container>,
  path: FieldPath,
): FieldErrors {
  const errors: FieldErrors = [];
  if (restartPolicy === undefined) {
    if (restartPolicyRules.length === 0) return [];
    errors.push(required(path.child('restartPolicy'), 'must specify restartPolicy when restart rules are used'));
  } else if (!RESTART_POLICIES.includes(restartPolicy)) {
    errors.push(notSupported(path.child('restartPolicy'), restartPolicy, RESTART_POLICIES));
  }
  const rulesPath = path.child('restartPolicyRules');
  if (restartPolicyRules.length > MAX_RESTART_RULES) errors.push(tooLong(rulesPath, MAX_RESTART_RULES));
  for (const [position, { action = '', exitCodes }] of restartPolicyRules.entries()) {
    const at = rulesPath.index(position);
    if (action !== 'Restart') errors.push(notSupported(at.child('action'), action, ['Restart']));
    if (exitCodes === undefined) {
      errors.push(required(at.child('exitCodes'), 'must be specified'));
      continue;
    }
    const { operator = '', values = [] } = exitCodes;
    if (!EXIT_CODE_OPERATORS.includes(operator)) {
      errors.push(notSupported(at.child('exitCodes', 'operator'), operator, EXIT_CODE_OPERATORS));
    }
    if (values.length > MAX_EXIT_CODES) errors.push(tooLong(at.child('exitCodes', 'values'), MAX_EXIT_CODES));
  }
  return errors;
}
