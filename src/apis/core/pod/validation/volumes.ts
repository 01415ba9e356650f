import { append } from '../../../../lib/values/append.js';
import {
  duplicate,
  type FieldErrors,
  type FieldPath,
  forbidden,
  invalid,
  required,
} from '../../../../machinery/field-error.js';
import type { ObjectMeta } from '../../../../machinery/object.js';
import { isDns1123Subdomain } from '../../../../machinery/validation/names.js';
import { goQuote } from '../../../../lib/go/quote.js';
import type { Volume } from '../../../../schema/generated/core.v1.js';
import { validateDnsLabel } from './names.js';
import type { PodRules } from './pod-rules.js';
import { VOLUME_SOURCES } from './volume-sources.js';

/** Volumes without an error, by name: those containers may mount. */
export type ValidVolumes = ReadonlyMap<string, Readonly<Volume>>;

/** `meta` is the pod's, absent for templates. */
export function validateVolumes(
  volumes: readonly Volume[] | undefined,
  meta: Readonly<ObjectMeta> | undefined,
  path: FieldPath,
  rules: PodRules,
): { valid: ValidVolumes; errors: FieldErrors } {
  const valid = new Map<string, Readonly<Volume>>();
  const errors: FieldErrors = [];
  const createdClaims = new Set<string>();
  for (const { ephemeral, name } of volumes ?? [])
    if (ephemeral && meta?.name) createdClaims.add(`${meta.name}-${name}`);
  for (const [position, volume] of (volumes ?? []).entries()) {
    const at = path.index(position);
    const wrong = validateVolumeSource(volume, meta, at, rules);
    if (volume.name === '') wrong.push(required(at.child('name')));
    else append(wrong, validateDnsLabel(volume.name, at.child('name')));
    if (valid.has(volume.name)) wrong.push(duplicate(at.child('name'), volume.name));
    if (wrong.length === 0) valid.set(volume.name, volume);
    else append(errors, wrong);

    const claimName = volume.persistentVolumeClaim?.claimName;
    if (claimName !== undefined && createdClaims.has(claimName)) {
      const why = 'must not reference a PVC that gets created for an ephemeral volume';
      errors.push(invalid(at.child('persistentVolumeClaim', 'claimName'), claimName, why));
    }
  }
  return { valid, errors };
}

/** Exactly one source, by its own rules. The first found is checked; the others are one too many. */
function validateVolumeSource(
  volume: Readonly<Volume>,
  meta: Readonly<ObjectMeta> | undefined,
  path: FieldPath,
  rules: PodRules,
): FieldErrors {
  const errors: FieldErrors = [];
  let found = false;
  for (const source of VOLUME_SOURCES) {
    if (volume[source.member] === undefined) continue;
    if (found)
      errors.push(forbidden(path.child(source.shown ?? source.member), 'may not specify more than 1 volume type'));
    else append(errors, source.validate(volume, path.child(source.path ?? source.member), rules));
    if (source.member === 'iscsi') append(errors, validateIscsiNameLength(volume, path));
    if (source.member === 'ephemeral' && !found) append(errors, validateCreatedClaimName(volume, meta, path));
    found = true;
  }
  if (!found) errors.push(required(path, 'must specify a volume type'));
  return errors;
}

function validateIscsiNameLength({ name, iscsi }: Readonly<Volume>, path: FieldPath): FieldErrors {
  if (iscsi?.initiatorName === undefined || Buffer.byteLength(`${name}:${iscsi.targetPortal}`) <= 64) return [];
  const why =
    'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.';
  return [invalid(path.child('name'), name, why)];
}

function validateCreatedClaimName(
  { name }: Readonly<Volume>,
  meta: Readonly<ObjectMeta> | undefined,
  path: FieldPath,
): FieldErrors {
  if (!meta?.name || name === '') return [];
  const claim = `${meta.name}-${name}`;
  return isDns1123Subdomain(claim).map((message) =>
    invalid(path.child('name'), name, `PVC name ${goQuote(claim)}: ${message}`),
  );
}
