// Annotations that mean something to nodes: what their specs say today, as it was said before.
import { type FieldErrors, type FieldPath, invalid, required } from '../../../machinery/field-error.js';
import type { AvoidPods, PreferAvoidPodsEntry, Taint } from '../../../schema/generated/core.v1.js';
import { readInternalList, readJsonValue } from '../shared/json-text.js';
import { validateTaints } from './taints.js';

const TAINTS = 'scheduler.alpha.kubernetes.io/taints';
const AVOIDED_PODS = 'scheduler.alpha.kubernetes.io/preferAvoidPods';

export function validateNodeAnnotations(
  annotations: Readonly<Record<string, string>> | undefined,
  path: FieldPath,
): FieldErrors {
  const taints = annotations?.[TAINTS];
  const avoided = annotations?.[AVOIDED_PODS];
  return [...(taints ? validateTaintsText(taints, path) : []), ...(avoided ? validateAvoidedText(avoided, path) : [])];
}

function validateTaintsText(text: string, path: FieldPath): FieldErrors {
  const read = readInternalList<Taint>(text, 'Taint');
  return 'problem' in read ? [invalid(path, TAINTS, read.problem)] : validateTaints(read.value, path.child(TAINTS));
}

function validateAvoidedText(text: string, path: FieldPath): FieldErrors {
  const read = readJsonValue<AvoidPods>(text, 'AvoidPods');
  if ('problem' in read) return [invalid(path.child('AvoidPods'), AVOIDED_PODS, read.problem)];
  const at = path.child(AVOIDED_PODS);
  return (read.value.preferAvoidPods ?? []).flatMap((entry, position) => validateAvoided(entry, at.index(position)));
}

function validateAvoided({ podSignature }: Readonly<PreferAvoidPodsEntry>, path: FieldPath): FieldErrors {
  const at = path.child('PodSignature');
  const controller = podSignature.podController;
  if (controller === undefined) return [required(at)];
  if (controller.controller === true) return [];
  return [invalid(at.child('PodController', 'Controller'), false, 'must point to a controller')];
}
