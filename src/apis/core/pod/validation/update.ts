import { append } from '../../../../lib/values/append.js';
import { internalDiff } from '../../internal-form/diff.js';
import { sortedByKey } from '../../internal-form/members.js';
import { internalList, internalValue } from '../../internal-form/internal-value.js';
import { deepEqual } from '../../../../lib/values/deep-equal.js';
import { type FieldErrors, FieldPath, forbidden, invalid, required } from '../../../../machinery/field-error.js';
import { forgetExplicitEmpty, withExplicitEmptyOf } from '../../../../machinery/explicit-empty.js';
import { rangeMessage } from '../../../../machinery/validation/names.js';
import type {
  Affinity,
  Container,
  NodeAffinity,
  NodeSelectorTerm,
  Pod,
  PodSchedulingGate,
  PodSpec,
} from '../../../../schema/generated/core.v1.js';
import { samePodSpec } from '../equal.js';
import { validatePodAnnotationsUpdate } from './annotations.js';
import { validateImagePadding } from './containers.js';
import type { PodRules } from './pod-rules.js';
import { validatePodOnly } from './pod.js';
import { MAX_INT32 } from './spec.js';
import { validateOnlyAddedTolerations } from './tolerations.js';

const SPEC = FieldPath.of('spec');
const ANNOTATIONS = FieldPath.of('metadata', 'annotations');
const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const MUTABLE = [
  '`spec.containers[*].image`',
  '`spec.initContainers[*].image`',
  '`spec.activeDeadlineSeconds`',
  '`spec.tolerations` (only additions to existing tolerations)',
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
].join(',');

/** A pod's spec is settled once it exists, but for the few members above. */
export function validatePodUpdate(pod: Readonly<Pod>, old: Readonly<Pod>, rules: PodRules): FieldErrors {
  const errors = [...validatePodOnly(pod, rules), ...validatePodAnnotationsUpdate(pod, old, ANNOTATIONS, rules)];
  const { spec } = pod;
  for (const member of ['containers', 'initContainers'] as const) {
    const now = spec[member] ?? [];
    if (now.length !== (old.spec[member] ?? []).length) {
      errors.push(forbidden(SPEC.child(member), 'pod updates may not add or remove containers'));
      return errors;
    }
    append(errors, validateImages(now, SPEC.child(member)));
  }
  const deadline = validateDeadline(spec.activeDeadlineSeconds, old.spec.activeDeadlineSeconds);
  append(errors, deadline.errors);
  if (deadline.stop) return errors;
  append(
    errors,
    validateOnlyAddedTolerations(spec.tolerations, old.spec.tolerations, SPEC.child('tolerations')),
    validateOnlyDeletedGates(spec.schedulingGates, old.spec.schedulingGates, SPEC.child('schedulingGates')),
  );
  if (samePodSpec(spec, old.spec)) return errors;

  const kept = withMutableMembersOf(old.spec, spec);
  if (old.spec.schedulingGates) append(errors, takeSchedulingDirectives(kept, old.spec));
  if (!samePodSpec(kept, old.spec)) {
    const changes = internalDiff('PodSpec', old.spec, kept);
    errors.push(forbidden(SPEC, `pod updates may not change fields other than ${MUTABLE}\n${changes}`));
  }
  return errors;
}

const validateImages = (containers: readonly Container[], path: FieldPath): FieldErrors =>
  containers.flatMap((container, position) => {
    const at = path.index(position);
    return [...(container.image ? [] : [required(at.child('image'))]), ...validateImagePadding(container, at)];
  });

/** A deadline may come nearer, or be set where there was none. */
function validateDeadline(
  now: number | undefined,
  old: number | undefined,
): { readonly errors: FieldErrors; readonly stop: boolean } {
  const path = SPEC.child('activeDeadlineSeconds');
  if (now === undefined) {
    if (old === undefined) return { errors: [], stop: false };
    const why = 'must not update from a positive integer to nil value';
    return { errors: [invalid(path, null, why)], stop: false };
  }
  if (now < 0 || now > MAX_INT32) return { errors: [invalid(path, now, rangeMessage(0, MAX_INT32))], stop: true };
  if (old === undefined || now <= old) return { errors: [], stop: false };
  return { errors: [invalid(path, now, 'must be less than or equal to previous value')], stop: true };
}

function validateOnlyDeletedGates(
  gates: readonly PodSchedulingGate[] | undefined,
  old: readonly PodSchedulingGate[] | undefined,
  path: FieldPath,
): FieldErrors {
  const errors: FieldErrors = [];
  // Of those by the same name the last is reported.
  const last = new Map((gates ?? []).map(({ name }, position) => [name, position]));
  for (const { name } of old ?? []) last.delete(name);
  for (const [name, position] of last) {
    const why = `only deletion is allowed, but found new scheduling gate '${name}'`;
    errors.push(forbidden(path.index(position).child('name'), why));
  }
  return errors;
}

/** The new spec with everything an update may change put back, so that the rest can be compared. */
function withMutableMembersOf(old: Readonly<PodSpec>, spec: Readonly<PodSpec>): PodSpec {
  const kept: PodSpec = withExplicitEmptyOf(spec, {
    ...spec,
    containers: withImagesOf(old.containers, spec.containers),
    activeDeadlineSeconds: old.activeDeadlineSeconds,
    schedulingGates: old.schedulingGates,
    tolerations: old.tolerations,
  });
  if (spec.initContainers) kept.initContainers = withImagesOf(old.initContainers, spec.initContainers) ?? [];
  if ((old.terminationGracePeriodSeconds ?? 0) < 0 && spec.terminationGracePeriodSeconds === 1) {
    kept.terminationGracePeriodSeconds = old.terminationGracePeriodSeconds;
  }
  for (const member of ['initContainers', 'schedulingGates', 'tolerations']) forgetExplicitEmpty(kept, member);
  return kept;
}

const withImagesOf = (
  old: readonly Container[] | null | undefined,
  containers: readonly Container[] | null,
): Container[] | null =>
  containers?.map((each, position) => withExplicitEmptyOf(each, { ...each, image: old?.[position]?.image })) ?? null;

/** While gates hold a pod back from scheduling, where it may go can be narrowed. Puts that back in `kept` too. */
function takeSchedulingDirectives(kept: PodSpec, old: Readonly<PodSpec>): FieldErrors {
  const errors: FieldErrors = [];
  if (!deepEqual(kept.nodeSelector, old.nodeSelector)) {
    append(errors, validateNodeSelectorChange(kept.nodeSelector, old.nodeSelector));
    kept.nodeSelector = old.nodeSelector;
  }
  const now = kept.affinity?.nodeAffinity;
  const before = old.affinity?.nodeAffinity;
  if (deepEqual(now, before)) return errors;
  append(errors, validateNodeAffinityChange(now, before));
  const affinity: Affinity = { ...kept.affinity, nodeAffinity: before };
  const vanished = old.affinity === undefined && !affinity.podAffinity && !affinity.podAntiAffinity;
  kept.affinity = vanished ? undefined : affinity;
  return errors;
}

function validateNodeSelectorChange(
  now: Readonly<Record<string, string>> | undefined,
  old: Readonly<Record<string, string>> | undefined,
): FieldErrors {
  const kept = Object.entries(old ?? {}).every(([key, value]) => now?.[key] === value);
  if (kept) return [];
  const why = 'only additions to spec.nodeSelector are allowed (no mutations or deletions)';
  return [invalid(SPEC.child('nodeSelector'), now && sortedByKey(now), why)];
}

function validateNodeAffinityChange(
  now: Readonly<NodeAffinity> | undefined,
  old: Readonly<NodeAffinity> | undefined,
): FieldErrors {
  const oldTerms = old?.[REQUIRED]?.nodeSelectorTerms ?? [];
  const terms = now?.[REQUIRED]?.nodeSelectorTerms ?? [];
  const path = SPEC.child('affinity', 'nodeAffinity', REQUIRED, 'nodeSelectorTerms');
  if (oldTerms.length > 0 && oldTerms.length !== terms.length) {
    const shown = internalList('NodeSelectorTerm', now?.[REQUIRED]?.nodeSelectorTerms);
    return [invalid(path, shown, 'no additions/deletions to non-empty NodeSelectorTerms list are allowed')];
  }
  return oldTerms.flatMap((oldTerm, position) => {
    const term = terms[position] ?? {};
    if (hasOnlyAdditions(term, oldTerm)) return [];
    const why = 'only additions are allowed (no mutations or deletions)';
    return [invalid(path.index(position), internalValue('NodeSelectorTerm', term), why)];
  });
}

function hasOnlyAdditions(term: Readonly<NodeSelectorTerm>, old: Readonly<NodeSelectorTerm>): boolean {
  if (!old.matchExpressions && !old.matchFields) return !term.matchExpressions && !term.matchFields;
  return (['matchExpressions', 'matchFields'] as const).every((member) => {
    const before = old[member] ?? [];
    return deepEqual((term[member] ?? []).slice(0, before.length), before);
  });
}
