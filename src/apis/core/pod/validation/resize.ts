import { append } from '../../../../lib/values/append.js';
import { type FieldErrors, FieldPath, forbidden, invalid, named } from '../../../../machinery/field-error.js';
import type {
  Container,
  Pod,
  PodSpec,
  ResourceList,
  ResourceRequirements,
} from '../../../../schema/generated/core.v1.js';
import { isSidecar } from '../containers.js';
import { sameContainer, samePodSpec } from '../equal.js';
import { computeQosClass, qosClassOf } from '../qos.js';
import { MIRROR_POD } from './annotations.js';
import type { PodRules } from './pod-rules.js';
import { validatePodOnly } from './pod.js';

const SPEC = FieldPath.of('spec');
const WHOLE = FieldPath.of('');
const IMMUTABLE = 'only cpu and memory resources are mutable';

/** A resize changes how much processor and memory the containers of a running pod have, and nothing else. */
export function validatePodResize(pod: Readonly<Pod>, old: Readonly<Pod>, rules: PodRules): FieldErrors {
  if (hasPodLevelResources(old.spec) || hasPodLevelResources(pod.spec)) {
    return [forbidden(WHOLE, 'pods with pod-level resources cannot be resized')];
  }
  if (old.metadata.annotations?.[MIRROR_POD] !== undefined) {
    return [forbidden(WHOLE, 'static pods cannot be resized')];
  }
  if (old.spec.os?.name === 'windows') return [forbidden(WHOLE, 'windows pods cannot be resized')];

  const errors = validatePodOnly(pod, rules);
  if (qosClassOf(old) !== computeQosClass(pod.spec)) {
    const why = 'Pod QOS Class may not change as a result of resizing';
    errors.push(invalid(SPEC, named(pod.status.qosClass ?? ''), why));
  }
  const running = (old.status.containerStatuses ?? []).find(({ state }) => state.running);
  if (running && !running.resources) {
    errors.push(forbidden(SPEC, 'Pod running on node without support for resize'));
  }
  const order = validateSameContainers(pod.spec, old.spec);
  if (order.length > 0) return [...errors, ...order];
  append(errors, validateNothingRemoved(pod.spec, old.spec), validateOnlyResources(pod.spec, old.spec));
  if (errors.length > 0) return errors;
  const { containers, initContainers } = old.spec;
  return samePodSpec({ ...pod.spec, containers, initContainers }, old.spec) ? [] : [forbidden(SPEC, IMMUTABLE)];
}

const hasPodLevelResources = ({ resources }: Readonly<PodSpec>): boolean =>
  resources?.requests !== undefined || resources?.limits !== undefined;

function validateSameContainers(spec: Readonly<PodSpec>, old: Readonly<PodSpec>): FieldErrors {
  const errors: FieldErrors = [];
  for (const member of ['containers', 'initContainers'] as const) {
    const now = spec[member] ?? [];
    const before = old[member] ?? [];
    if (now.length !== before.length) {
      errors.push(forbidden(SPEC.child(member), `${member} may not be added or removed on resize`));
      continue;
    }
    for (const [position, { name }] of before.entries()) {
      if (now[position]?.name === name) continue;
      const why = `${member} may not be renamed or reordered on resize`;
      errors.push(forbidden(SPEC.child(member).index(position).child('name'), why));
    }
  }
  return errors;
}

function validateNothingRemoved(spec: Readonly<PodSpec>, old: Readonly<PodSpec>): FieldErrors {
  const errors: FieldErrors = [];
  for (const member of ['initContainers', 'containers'] as const) {
    for (const [position, before] of (old[member] ?? []).entries()) {
      if (member === 'initContainers' && !isSidecar(before)) continue;
      const now = spec[member]?.[position]?.resources;
      const at = SPEC.child(member).index(position).child('resources');
      for (const kind of ['requests', 'limits'] as const) {
        const removed = Object.keys(before.resources[kind] ?? {}).some((name) => now?.[kind]?.[name] === undefined);
        if (removed) errors.push(forbidden(at.child(kind), `resource ${kind} cannot be removed`));
      }
    }
  }
  return errors;
}

function validateOnlyResources(spec: Readonly<PodSpec>, old: Readonly<PodSpec>): FieldErrors {
  const errors: FieldErrors = [];
  for (const [position, container] of (spec.containers ?? []).entries()) {
    const before = old.containers?.[position];
    if (before && !isResizeOf(container, before)) errors.push(forbidden(SPEC, IMMUTABLE));
  }
  for (const [position, container] of (spec.initContainers ?? []).entries()) {
    const before = old.initContainers?.[position];
    if (before === undefined) continue;
    if (isSidecar(container)) {
      if (!isResizeOf(container, before)) {
        errors.push(forbidden(SPEC, 'only cpu and memory resources for sidecar containers are mutable'));
      }
    } else if (!sameContainer(container, before)) {
      errors.push(forbidden(SPEC, 'resources for non-sidecar init containers are immutable'));
    }
  }
  return errors;
}

/** Equal but for processor and memory, which are put back before comparing. */
const isResizeOf = (container: Readonly<Container>, old: Readonly<Container>): boolean =>
  sameContainer({ ...container, resources: withOldComputeOf(old.resources, container.resources) }, old);

/** Claims of the new container are not looked at, and nor are lists the old one did not have, as in kube-apiserver. */
function withOldComputeOf(old: ResourceRequirements, resources: ResourceRequirements): ResourceRequirements {
  const merged = (kind: 'limits' | 'requests'): ResourceList | undefined => {
    const before = old[kind];
    if (before === undefined) return undefined;
    const { cpu: _, memory: __, ...rest } = resources[kind] ?? {};
    const { cpu, memory } = before;
    return { ...rest, ...(cpu !== undefined && { cpu }), ...(memory !== undefined && { memory }) };
  };
  return { limits: merged('limits'), requests: merged('requests') };
}
